"""A de-duplicating queue of keys: one pass at a time for each key, many keys at once, back-off per key.

A key added while it is being handled is handled once more afterwards. Failures of one key delay that key
only. The handler says when it wants to see the key again.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, Literal, TypeVar

from stanchion_operator.errors import NotLeading

K = TypeVar("K", bound=Hashable)
Handle = Callable[[K], Awaitable[float | Literal["soon"] | None]]
"""Handles a key; returns the seconds until the next look, `soon` for the back-off, None for no next look."""

logger = logging.getLogger(__name__)

FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 60.0


def backoff_seconds(failures: int, jitter: float) -> float:
    """Doubles with each failure in a row up to a minute; `jitter` in 0…1 takes off up to half."""
    longest = min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2.0 ** min(failures - 1, 16))
    return longest * (1 - jitter / 2)


class WorkQueue(Generic[K]):
    """Add keys from anywhere in the loop; `work` handles them in as many tasks as run it."""

    def __init__(self) -> None:
        self._waiting: dict[K, None] = {}
        self._handling: set[K] = set()
        self._again: set[K] = set()
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._failures: dict[K, int] = {}
        self._added = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def idle(self) -> bool:
        """Nothing waits and nothing is being handled; delayed keys do not count."""
        return not self._waiting and not self._handling

    def add(self, key: K) -> None:
        """Handle `key` as soon as possible; many calls before then are one."""
        self._cancel(key)
        if key in self._handling:
            self._again.add(key)
            return
        self._waiting[key] = None
        self._added.set()

    def add_after(self, key: K, seconds: float) -> None:
        """Handle `key` in `seconds`, unless it is due earlier anyway."""
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is not None and timer.when() <= loop.time() + seconds:
            return
        self._cancel(key)
        self._timers[key] = loop.call_later(seconds, self.add, key)

    async def work(self, handle: Handle[K]) -> None:
        """Handle keys for ever. An error delays its key by the back-off; NotLeading ends the work."""
        while True:
            key = await self._take()
            try:
                wish = await handle(key)
                if wish == "soon":
                    delay: float | None = self._fail(key)
                else:
                    self._failures.pop(key, None)
                    delay = wish
            except NotLeading:
                raise
            except Exception:
                delay = self._fail(key)
                logger.exception("%s failed; again in %.1f s", key, delay)
            finally:
                self._finish(key)
            if delay is not None:
                self.add_after(key, delay)

    def _fail(self, key: K) -> float:
        """Count a failure of `key` and return how long to wait; a pass without one starts anew."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        return backoff_seconds(failures, random.random())

    def close(self) -> None:
        """Drop what waits and cancel the timers."""
        self._waiting.clear()
        for key in list(self._timers):
            self._cancel(key)

    async def _take(self) -> K:
        while not self._waiting:
            self._added.clear()
            await self._added.wait()
        key = next(iter(self._waiting))
        del self._waiting[key]
        self._handling.add(key)
        return key

    def _finish(self, key: K) -> None:
        self._handling.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def _cancel(self, key: K) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
