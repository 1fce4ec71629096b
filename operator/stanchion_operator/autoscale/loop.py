"""The autoscaler: one tick for every placed policy, a bounded number at the same time."""

from __future__ import annotations

import asyncio
import logging
import time

from stanchion_operator import metrics
from stanchion_operator.autoscale.subject import Subject
from stanchion_operator.errors import NotLeading
from stanchion_operator.kube.cache import Cache
from stanchion_operator.kube.client import Api
from stanchion_operator.kube.paths import Key
from stanchion_operator.reconcile.placement import Placements

logger = logging.getLogger(__name__)

AT_ONCE = 16


class Autoscaler:
    """Runs while this operator leads; what it remembers dies with it, but for the scale events in status."""

    def __init__(self, api: Api, cache: Cache, placements: Placements, tick_seconds: float) -> None:
        self._api, self._cache, self._placements = api, cache, placements
        self._tick_seconds = tick_seconds
        self._subjects: dict[Key, Subject] = {}

    async def run(self) -> None:
        """Tick for ever; a tick that takes longer than its period delays the next, it does not pile up."""
        while True:
            started = time.monotonic()
            await self.tick()
            await asyncio.sleep(max(0.0, self._tick_seconds - (time.monotonic() - started)))

    async def tick(self) -> None:
        """Look at every placed policy once. Raises NotLeading."""
        for key in self._subjects.keys() - self._placements.keys():
            del self._subjects[key]
            metrics.forget_policy(key.namespace, key.name)
        limit = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(self._one(key, limit) for key in list(self._placements)))

    async def _one(self, key: Key, limit: asyncio.Semaphore) -> None:
        async with limit:
            placement = self._placements.get(key)
            if placement is None:
                return
            if key not in self._subjects:
                self._subjects[key] = Subject(self._api, self._cache, key, self._tick_seconds)
            try:
                await self._subjects[key].tick(placement)
                metrics.TICKS.labels("done").inc()
            except NotLeading:
                raise
            except Exception:
                metrics.TICKS.labels("error").inc()
                logger.exception("autoscaling %s failed; the number stays", key)
