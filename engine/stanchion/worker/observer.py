"""Watches the beats of all processes and returns the jobs of those that stand still.

Every supervisor observes, on its own monotonic clock: clock steps, and a Redis that was away for everybody,
declare nobody dead. Called by the supervisor.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from redis.exceptions import RedisError, ResponseError

from stanchion import metrics
from stanchion.errors import LeaseLost
from stanchion.store import membership, recovery
from stanchion.store.recovery import Member
from stanchion.worker.backoff import Outage
from stanchion.worker.life import Life
from stanchion.worker.waits import BLOCK_SECONDS

GRAVE_SECONDS = 3.0 * BLOCK_SECONDS
"""How long the inboxes of a recovered incarnation are looked at again: Redis serves a blocked connection
until it sees it closed, which after the death of a whole host may take that long."""

log = logging.getLogger("stanchion.worker")


@dataclass(frozen=True, slots=True)
class Sightings:
    """Each process's counter, and when (monotonic seconds) it was first seen at that value."""

    seen: Mapping[str, tuple[str, float]] = field(default_factory=dict)

    def updated(self, beats: Mapping[str, str], now: float) -> Sightings:
        """After another look."""
        return Sightings(
            {
                identity: (beat, self.seen[identity][1] if self._stands_still(identity, beat) else now)
                for identity, beat in beats.items()
            }
        )

    def dead(self, now: float, dead_after_seconds: float) -> dict[str, str]:
        """Processes whose counter stood still for too long, with that counter."""
        return {
            identity: beat
            for identity, (beat, since) in self.seen.items()
            if now - since >= dead_after_seconds
        }

    def _stands_still(self, identity: str, beat: str) -> bool:
        return identity in self.seen and self.seen[identity][0] == beat


class Observer:
    """Observes on behalf of one life."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._graves: dict[Member, float] = {}

    async def run(self) -> None:
        """Look once a beat until cancelled."""
        outage = Outage(log, "watching the other workers", self._life.rng)
        sightings = Sightings()
        while True:
            try:
                beats = await recovery.beats(self._life.client)
                sightings = sightings.updated(beats, time.monotonic())
                for identity, beat in sightings.dead(
                    time.monotonic(), self._life.options.dead_after_seconds
                ).items():
                    if identity != self._life.identity:
                        await self._recover(identity, beat)
                await self._look_at_graves()
                await self._strike_dead()
            except (RedisError, OSError) as error:
                self._life.tally.add(metrics.REDIS_ERRORS, "observer")
                # What was seen before the outage proves nothing after it: nobody could beat meanwhile.
                sightings = Sightings()
                await outage.wait(error)
                continue
            outage.over()
            await asyncio.sleep(self._life.options.beat_seconds)

    async def _strike_dead(self) -> None:
        """Let dead processes vanish from Sidekiq's web page, Ruby's too."""
        try:
            struck = await membership.strike_dead(self._life.client)
        except ResponseError as error:
            # Full memory refuses it, which says nothing about anybody's life.
            self._life.tally.add(metrics.REDIS_ERRORS, "cleanup")
            log.info("dead processes stay on the web page for now: %s", error)
            return
        if struck:
            log.info("%d dead process(es) struck from the web page", struck)

    async def _recover(self, identity: str, beat: str) -> None:
        client = self._life.client
        try:
            for member in await recovery.members(client, identity, beat):
                returned = await recovery.retire(client, member, counted=True, now=time.time())
                self._graves[member] = time.monotonic()
                self._life.tally.add(metrics.RETURNED, "process", amount=len(returned.jids))
                self._life.tally.add(metrics.QUARANTINED, amount=returned.quarantined)
                log.warning(
                    "process %s is dead: %d of its job(s) went back to their queues, %d quarantined",
                    identity, len(returned.jids) - returned.quarantined, returned.quarantined,
                )  # fmt: skip
            await recovery.leave(client, identity, beat)
        except LeaseLost as error:
            # Alive after all, or another observer was faster.
            log.info("%s", error)
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise  # read-only, full: nobody can beat, so nobody's silence proves anything
            self._hindered(identity, error)
        except (ValueError, TypeError) as error:
            self._hindered(identity, error)

    def _hindered(self, identity: str, error: Exception) -> None:
        """What a stranger wrote over its records must not keep the others waiting."""
        self._life.tally.add(metrics.REDIS_ERRORS, "observer")
        log.error("process %s is dead; what lies in its records hinders its recovery: %s", identity, error)

    async def _look_at_graves(self) -> None:
        for member, since in tuple(self._graves.items()):
            returned = await membership.return_inboxes(self._life.client, member.incarnation, member.queues)
            if returned:
                log.warning("%d late job(s) of a dead process went back to their queues", returned)
            if time.monotonic() - since > GRAVE_SECONDS:
                del self._graves[member]
