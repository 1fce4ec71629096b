"""The loop that every kind shares: gather facts, decide, act, show the result, say when to look again."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Mapping
from typing import Any, Literal, Protocol, TypeVar

from stanchion_operator import metrics
from stanchion_operator.decide import report as reporting
from stanchion_operator.decide.conditions import transitions
from stanchion_operator.decide.report import Report
from stanchion_operator.errors import NotReady
from stanchion_operator.kube import status
from stanchion_operator.kube.cache import Cache
from stanchion_operator.kube.client import Api
from stanchion_operator.kube.events import Events
from stanchion_operator.kube.paths import Key

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]
T = TypeVar("T")

GOOD = {"Conflict": "False", "Shadowed": "False", "CleanupBlocked": "False"}
"""The good status of a condition where it is not True."""


class Kind(Protocol):
    """What a kind of policy adds to the loop."""

    async def reconcile(self, key: Key, manifest: Json) -> Report | None:
        """Bring the world in line with one policy; None if there is nothing left to report on."""

    async def forget(self, key: Key) -> None:
        """The object is gone: take back what we did for it."""


class Reconciler:
    """Handles one key of the work queue. Safe to repeat at any moment, after any crash."""

    def __init__(
        self,
        api: Api,
        cache: Cache,
        events: Events,
        kinds: Mapping[str, Kind],
        resync_seconds: float,
    ) -> None:
        self._api, self._cache, self._events, self._kinds = api, cache, events, kinds
        self._resync_seconds = resync_seconds

    async def __call__(self, key: Key) -> float | Literal["soon"] | None:
        """One pass. Returns the seconds until the next look, `soon` for back-off, None when it is gone."""
        kind = self._kinds[key.kind]
        with metrics.timed_pass(key.kind):
            manifest = self._cache.get(key)
            if manifest is None:
                await kind.forget(key)
                return None
            report = await kind.reconcile(key, manifest)
            if report is None:
                return None
            await self._show(key, manifest, report)
            if report.repaired:
                await self._events.record(
                    key,
                    manifest,
                    kind="Warning",
                    reason="ConfigRepaired",
                    action="Repair",
                    note="the config hash had been changed or lost in Redis, and was written again",
                )
            metrics.count_pass(key.kind, report.retry or "done")
        return "soon" if report.retry == "soon" else self._resync_seconds

    async def _show(self, key: Key, manifest: Json, report: Report) -> None:
        """Write the status if it says anything new, and an event for each condition that changed."""
        shown = manifest.get("status") or {}
        old, metadata = shown.get("conditions") or [], manifest["metadata"]
        wanted = reporting.status(report, old, metadata["generation"], time.time())
        if not reporting.differs(wanted, shown):
            return
        written = await status.apply(self._api, key, metadata["uid"], wanted, status.DECLARED)
        if written is None:
            return
        self._cache.put(key, written)
        for condition in transitions(old, wanted["conditions"]):
            await self._tell(key, manifest, condition, first=not old)

    async def _tell(self, key: Key, manifest: Json, condition: Json, *, first: bool) -> None:
        good = condition["status"] == GOOD.get(condition["type"], "True")
        if good and first and condition["type"] != "Ready":
            return  # the first sight of a healthy object is one event, not six
        logger.info(
            "%s: %s=%s %s: %s",
            key,
            condition["type"],
            condition["status"],
            condition["reason"],
            condition["message"],
        )
        await self._events.record(
            key,
            manifest,
            kind="Normal" if good else "Warning",
            reason=condition["reason"],
            action=condition["type"],
            note=condition["message"] or f"{condition['type']} is {condition['status']}",
        )


async def attempt(step: Awaitable[T]) -> T | NotReady:
    """The result of one step, or what kept it from being done: the other steps go on all the same."""
    try:
        return await step
    except NotReady as trouble:
        return trouble
