"""Why one attempt should end early: the worker drains, or the job is past its time limit.

The executor makes one for each attempt; the job reads it through `current_job()`, in any thread. A coroutine
is cancelled at its limit. A thread cannot be: it learns of the limit only by asking, and its job keeps its
slot and its lease until it returns, so that no second attempt ever runs beside it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from stanchion.errors import TimeLimitExceeded
from stanchion.outcomes import Interrupted


class StopSignal:
    """Called, it gives the exception the job should end with, or None. The limit counts from its making."""

    __slots__ = ("_deadline", "_is_draining", "limit_seconds")

    def __init__(self, is_draining: Callable[[], bool], limit_seconds: float | None) -> None:
        self._is_draining = is_draining
        self.limit_seconds = limit_seconds
        self._deadline = None if limit_seconds is None else time.monotonic() + limit_seconds

    def __call__(self) -> Exception | None:
        if self.is_past_limit:
            return self.exceeded()
        return Interrupted() if self._is_draining() else None

    @property
    def is_past_limit(self) -> bool:
        """Whether the attempt has taken longer than it may."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def exceeded(self) -> TimeLimitExceeded:
        """The failure of an attempt that ends because of its limit."""
        return TimeLimitExceeded(f"the job took longer than its limit of {self.limit_seconds:g} s")

    async def limit(self, awaitable: Awaitable[Any]) -> None:
        """Await it; at the limit cancel it and raise TimeLimitExceeded once it has ended."""
        try:
            async with asyncio.timeout(self._seconds_left()) as timer:
                await awaitable
        except TimeoutError:
            if timer.expired():
                raise self.exceeded() from None
            raise  # the job's own

    def _seconds_left(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()
