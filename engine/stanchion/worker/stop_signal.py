"""Why one attempt should end early: it was cancelled, is past its time limit, or the worker drains.

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
from stanchion.outcomes import Discard, Interrupted


class StopSignal:
    """Called, it gives the exception the job should end with, or None. The limit counts from its making."""

    __slots__ = ("_deadline", "_is_draining", "coroutine", "is_cancelled", "limit_seconds")

    def __init__(self, is_draining: Callable[[], bool], limit_seconds: float | None) -> None:
        self._is_draining = is_draining
        self.limit_seconds = limit_seconds
        self._deadline = None if limit_seconds is None else time.monotonic() + limit_seconds
        self.is_cancelled = False
        self.coroutine: asyncio.Task[Any] | None = None
        """What runs the job on the loop, while it does."""

    def __call__(self) -> Exception | None:
        if self.is_cancelled:
            return self.cancelled()
        if self.is_past_limit:
            return self.exceeded()
        return Interrupted() if self._is_draining() else None

    @property
    def is_past_limit(self) -> bool:
        """Whether the attempt has taken longer than it may."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def cancel(self) -> None:
        """Somebody wants the job to end: a coroutine at once, a thread when it asks."""
        self.is_cancelled = True
        if self.coroutine is not None:
            self.coroutine.cancel()

    def check_cancelled(self) -> None:
        """Raises Discard if it was cancelled before the job began, while middleware held it."""
        if self.is_cancelled:
            raise self.cancelled()

    def cancelled(self) -> Discard:
        """The outcome of an attempt that ended because it was cancelled."""
        return Discard("cancelled on request")

    def exceeded(self) -> TimeLimitExceeded:
        """The failure of an attempt that ends because of its limit."""
        return TimeLimitExceeded(f"the job took longer than its limit of {self.limit_seconds:g} s")

    async def limit(self, awaitable: Awaitable[Any]) -> None:
        """Await the job's coroutine. At the limit cancel it and raise TimeLimitExceeded once it has ended."""
        self.coroutine = asyncio.current_task()
        try:
            await (awaitable if self._deadline is None else self._in_time(awaitable))
        finally:
            self.coroutine = None

    async def _in_time(self, awaitable: Awaitable[Any]) -> None:
        try:
            async with asyncio.timeout(self._seconds_left()) as timer:
                await awaitable
        except TimeoutError:
            if timer.expired():
                raise self.exceeded() from None
            raise  # the job's own

    def _seconds_left(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()
