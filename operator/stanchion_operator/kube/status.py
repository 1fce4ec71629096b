"""Writes status: server-side applied on the status subresource, one field manager for each writer.

Two writers share a QueuePolicy's status: the reconcile loop says what was declared and whether it holds,
the autoscaler what it measured. Each applies its own fields and conditions in full, so neither erases
the other's, nor a third party's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stanchion_operator.errors import ApiError
from stanchion_operator.kube.client import APPLY, Api
from stanchion_operator.kube.paths import API_VERSION, Key

DECLARED = "stanchion-status"
MEASURED = "stanchion-scaler-status"


async def apply(
    api: Api, key: Key, uid: str, status: Mapping[str, Any], manager: str
) -> dict[str, Any] | None:
    """The object afterwards; None if it has gone (an apply must not create it anew, hence the uid)."""
    body = {
        "apiVersion": API_VERSION,
        "kind": key.kind,
        "metadata": {"name": key.name, "namespace": key.namespace, "uid": uid},
        "status": status,
    }
    try:
        return await api.write(
            "PATCH",
            f"{key.path}/status",
            query={"fieldManager": manager, "force": True},
            body=body,
            content_type=APPLY,
        )
    except ApiError as error:
        if error.status in (404, 409):
            return None
        raise
