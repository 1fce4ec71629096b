"""Events on policies: one for each transition of a condition, never one for each pass."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from stanchion_operator.errors import ApiError
from stanchion_operator.kube.client import Api
from stanchion_operator.kube.paths import API_VERSION, EVENT, Key, collection

logger = logging.getLogger(__name__)

NOTE_LIMIT = 1024
CONTROLLER = "stanchion.dev/operator"


class Events:
    """Writes events; losing one is logged and never stops a pass."""

    def __init__(self, api: Api, identity: str) -> None:
        self._api, self._identity = api, identity

    async def record(
        self,
        key: Key,
        manifest: Mapping[str, Any],
        *,
        kind: Literal["Normal", "Warning"],
        reason: str,
        action: str,
        note: str,
    ) -> None:
        """Write one event about an object. `reason` is CamelCase; `action` says what we did."""
        metadata = manifest["metadata"]
        event = {
            "apiVersion": "events.k8s.io/v1",
            "kind": EVENT,
            "metadata": {"generateName": f"{key.name}-", "namespace": key.namespace},
            "eventTime": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "type": kind,
            "reason": reason,
            "action": action,
            "note": note[:NOTE_LIMIT],
            "reportingController": CONTROLLER,
            "reportingInstance": self._identity,
            "regarding": {
                "apiVersion": API_VERSION,
                "kind": key.kind,
                "namespace": key.namespace,
                "name": key.name,
                "uid": metadata.get("uid", ""),
                "resourceVersion": metadata.get("resourceVersion", ""),
            },
        }
        try:
            await self._api.write("POST", collection(EVENT, key.namespace), body=event)
        except ApiError as error:
            logger.warning("event %s about %s was not written: %s", reason, key, error)
