"""One half of the stage: a queue, its workers, and the meter that watches its promise."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

import redis.asyncio

from stanchion.dev.demo import ledger
from stanchion.dev.demo.ledger import Count
from stanchion.dev.fleet import Fleet
from stanchion.dev.group import LEAD_SECONDS
from stanchion.store.facts import sample

TRACE_POINTS = 240
"""Two minutes: the whole demo, if the terminal is that wide."""
TRACE_STEP_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Reading:
    """What the meter shows."""

    name: str
    note: str
    target_seconds: float
    age_seconds: float
    waiting: int
    workers: int
    slots: int
    count: Count
    late_seconds: float
    """For how long, in all, the oldest job had waited longer than the target."""
    trace: tuple[float, ...]
    """Recent ages of the oldest job, oldest first."""


class Side:
    """A queue under load. `note` says who decides on its workers."""

    def __init__(self, name: str, note: str, fleet: Fleet, target_seconds: float, slots: int) -> None:
        self.name = name
        self.fleet = fleet
        self._note = note
        self._target_seconds = target_seconds
        self._slots = slots
        self._late_seconds = 0.0
        self._measured_at: float | None = None
        self._trace: deque[float] = deque(maxlen=TRACE_POINTS)
        self._traced_at = 0.0

    async def measure(self, client: redis.asyncio.Redis) -> Reading:
        """Read the queue, and add the time since the last reading if the promise is broken."""
        facts = await sample(client, self.name, lead_seconds=LEAD_SECONDS)
        totals = await ledger.count(client, self.name)
        now = time.monotonic()
        if self._measured_at is not None and facts.oldest_age_seconds > self._target_seconds:
            self._late_seconds += now - self._measured_at
        self._measured_at = now
        if now - self._traced_at >= TRACE_STEP_SECONDS:
            self._trace.append(facts.oldest_age_seconds)
            self._traced_at = now
        return Reading(
            name=self.name,
            note=self._note,
            target_seconds=self._target_seconds,
            age_seconds=facts.oldest_age_seconds,
            waiting=facts.waiting,
            workers=self.fleet.running,
            slots=self._slots,
            count=totals,
            late_seconds=self._late_seconds,
            trace=tuple(self._trace),
        )
