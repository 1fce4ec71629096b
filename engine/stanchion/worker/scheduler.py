"""Makes due jobs ready: those enqueued for later and those waiting for a retry.

Called by the supervisor. One process leads, to save work; promotion names exact bytes, so two leaders, or a
Ruby poller beside us, do no harm.
"""

from __future__ import annotations

import asyncio
import logging
import time

from redis.exceptions import RedisError

from stanchion import metrics
from stanchion.dialect import SIDEKIQ_7, Dialect
from stanchion.errors import MalformedPayload
from stanchion.job import Job
from stanchion.store import keys, schedule
from stanchion.store.schedule import Promotion
from stanchion.worker.backoff import Outage
from stanchion.worker.lead import Lead
from stanchion.worker.life import Life

LONGEST_SLEEP_SECONDS = 0.5
"""A Ruby client adds to the sets without telling anybody."""
PER_CALL = 100

log = logging.getLogger("stanchion.worker")


class Scheduler:
    """Promotes on behalf of one life."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._lead = Lead(life, keys.SCHEDULER_LEADER)
        self._broken: set[str] = set()

    async def run(self) -> None:
        """Lead or stand by until cancelled."""
        outage = Outage(log, "the scheduler", self._life.rng)
        try:
            while True:
                try:
                    pause = await self._turn()
                except (RedisError, OSError) as error:
                    self._life.tally.add(metrics.REDIS_ERRORS, "scheduler")
                    await outage.wait(error)
                    continue
                outage.over()
                await asyncio.sleep(pause)
        finally:
            await self._lead.give_up()

    async def _turn(self) -> float:
        """One look; returns how long to sleep."""
        if wait := await self._lead.seconds_to_wait():
            return wait
        firsts = await schedule.firsts(self._life.client)
        self._complain(set(schedule.SETS) - set(firsts))
        now = time.time()
        due = [set_key for set_key, at in firsts.items() if at is not None and at <= now]
        for set_key in due:  # one batch of each in turn: a long set must not starve the other
            await self._promote(set_key, now)
        return 0.0 if due else sleep_seconds(min(filter(None, firsts.values()), default=None), now)

    def _complain(self, broken: set[str]) -> None:
        """Once for each set: its jobs wait, those of the other go on."""
        for set_key in broken - self._broken:
            log.error("the key %s is of another type: its jobs wait until somebody removes it", set_key)
        for set_key in self._broken - broken:
            log.warning("the key %s can be read again", set_key)
        self._broken = broken

    async def _promote(self, set_key: str, now: float) -> None:
        """Move one call's worth of due members."""
        client = self._life.client
        due = await schedule.due(client, set_key, now, PER_CALL)
        if due:
            dialect = self._life.ruby.dialect
            promotions = [promotion(member, time.time(), dialect) for member, _ in due]
            moved = await schedule.promote(client, set_key, promotions, now)
            self._life.tally.add(metrics.PROMOTED, set_key, amount=moved)
            self._life.tally.set(metrics.SCHEDULER_LAG, to=time.time() - due[0][1])


def promotion(member: bytes, now: float, dialect: Dialect = SIDEKIQ_7) -> Promotion:
    """What a due member becomes: itself with a fresh `enqueued_at`; buried as it is when it is no job."""
    try:
        job = Job.parse(member)
    except MalformedPayload as error:
        log.error("a due entry is no job; it is in the dead set now: %s", error)
        return Promotion(member)
    return Promotion(member, job.queue, job.replace(enqueued_at=dialect.timestamp(now)).dump())


def sleep_seconds(next_due: float | None, now: float) -> float:
    """Until the next due time, at most half a second."""
    if next_due is None:
        return LONGEST_SLEEP_SECONDS
    return min(LONGEST_SLEEP_SECONDS, max(0.0, next_due - now))
