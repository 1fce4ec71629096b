"""Enqueues periodic jobs at their ticks.

Called by the supervisor. Of all workers with the same periodic jobs one leads; that a tick is enqueued once
does not rest on it, but on the script that moves the job's mark.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from redis.exceptions import RedisError, ResponseError

from stanchion import metrics
from stanchion.gate.config import ConfigCache
from stanchion.periodic import Rest, Step, step
from stanchion.store import keys
from stanchion.store import periodic as store
from stanchion.worker.backoff import Outage
from stanchion.worker.lead import Lead
from stanchion.worker.life import Life
from stanchion.worker.timetable import Entry, digest

LEAD_SECONDS = 3.0
LONGEST_SLEEP_SECONDS = LEAD_SECONDS / 4
DECLARE_SECONDS = 60.0

log = logging.getLogger("stanchion.worker")


class Ticker:
    """Ticks on behalf of one life."""

    def __init__(self, life: Life, entries: Sequence[Entry]) -> None:
        self._life = life
        self._entries = {entry.entry: entry for entry in entries}
        self._lead = Lead(life, keys.periodic_leader(digest(entries)), LEAD_SECONDS)
        self._config = ConfigCache()
        self._declare_at = 0.0
        self._rests: dict[str, Rest] = {}
        self._broken: set[str] = set()

    async def run(self) -> None:
        """Lead or stand by until cancelled."""
        if not self._entries:
            await asyncio.Event().wait()
        outage = Outage(log, "enqueueing periodic jobs", self._life.rng)
        try:
            while True:
                try:
                    pause = await self._turn()
                except (RedisError, OSError) as error:
                    self._life.tally.add(metrics.REDIS_ERRORS, "ticker")
                    await outage.wait(error)
                    continue
                outage.over()
                await asyncio.sleep(pause)
        finally:
            if self._entries:
                await self._lead.give_up()

    async def _turn(self) -> float:
        """One look; returns how long to sleep."""
        if wait := await self._lead.seconds_to_wait():
            return wait
        now, marks = await store.marks(self._life.client, tuple(self._entries))
        await self._declare(now)
        pairs = zip(self._entries.values(), marks, strict=True)
        next_tick = min([await self._look(entry, mark, now) for entry, mark in pairs])
        return min(LONGEST_SLEEP_SECONDS, max(0.0, next_tick - now))

    async def _look(self, entry: Entry, mark: str, now: float) -> float:
        """Enqueue what is due. Returns the next tick: the search for it is dear, so it is remembered."""
        last = store.mark_seconds(mark)
        rest = self._rests.get(entry.entry)
        if rest is not None and rest.holds(last, now):
            return rest.next_tick
        due = step(entry.periodic, last, now)
        rest = Rest(last, now, entry.periodic.next_tick(now))
        if due is None:  # else it is looked at again: another may have been faster, or it cannot be enqueued
            self._rests[entry.entry] = rest
        else:
            await self._take(entry, due, mark, now)
        return rest.next_tick

    async def _take(self, entry: Entry, due: Step, mark: str, now: float) -> None:
        view = await self._config.arefresh(self._life.client)
        dialect = self._life.ruby.dialect
        payloads = [entry.payload(tick, now, view, dialect) for tick in due.enqueue]
        try:
            is_ours = await store.tick(
                self._life.client,
                entry.entry,
                seen=mark,
                mark=repr(due.last),
                queue=entry.call.queue,
                payloads=payloads,
            )
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            self._complain(entry, error)
            return
        self._broken.discard(entry.entry)
        if is_ours and mark and not due.enqueue:
            log.warning("periodic job %s: what was due since its last tick is passed over", entry.entry)
        if is_ours and due.enqueue:
            self._life.tally.add(metrics.TICKS, entry.call.name, amount=len(payloads))

    def _complain(self, entry: Entry, error: ResponseError) -> None:
        """Once for each outage of one entry: the others go on, and it is tried again at every look."""
        if entry.entry not in self._broken:
            self._broken.add(entry.entry)
            log.error("periodic job %s cannot be enqueued: %s", entry.entry, error)

    async def _declare(self, now: float) -> None:
        if time.monotonic() < self._declare_at:
            return
        await store.declare(self._life.client, [entry.dump() for entry in self._entries.values()], now)
        self._declare_at = time.monotonic() + DECLARE_SECONDS
