"""The loop of a child: record what ended, take what may run, rest until something rings.

One trip is under way at a time, and what ends meanwhile goes with the next: batches form under load and
nothing ever waits for one to fill. It must never decide an outcome and never run a job itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from random import Random

import redis.asyncio
from redis.exceptions import RedisError

from stanchion import metrics
from stanchion.errors import LeaseLost
from stanchion.gate.config import ConfigCache
from stanchion.store import trip as store
from stanchion.store.direct import AsyncDirect
from stanchion.store.trip import Answer, Ended, Leased, Reply, Source, Status, Trip
from stanchion.worker.backoff import Outage
from stanchion.worker.options import WorkerOptions
from stanchion.worker.queue_order import order
from stanchion.worker.waits import Waits

MAX_PER_TRIP = 200
"""Outcomes, and jobs, in one script call: more would hold Redis up for the others."""
REFUSED_AGAIN_SECONDS = 1.0

log = logging.getLogger("stanchion.worker")


class Trips:
    """The trips of one incarnation. `start` begins a job and leads to `end`; `slots` may change any time."""

    def __init__(
        self,
        client: redis.asyncio.Redis,
        incarnation: str,
        options: WorkerOptions,
        config: ConfigCache,
        tally: metrics.Tally,
        start: Callable[[Leased], None],
        rng: Random,
    ) -> None:
        self._client = client
        self._direct = AsyncDirect(client)
        self._incarnation = incarnation
        self._options = options
        self._config = config
        self._tally = tally
        self._start = start
        self._rng = rng
        self._outage = Outage(log, "recording and fetching jobs", rng)
        self._ended: list[Ended] = []
        self._running: set[str] = set()
        self._unanswered: set[str] = set()
        self._refused: dict[str, Ended] = {}
        """By token: outcomes that rest before they are sent again."""
        self._wake = asyncio.Event()
        self._look = True
        self.slots = options.concurrency
        self.is_quiet = False
        self._finishing = asyncio.Event()
        self._has_recovered = False
        self.answered = 0
        """Number of the last trip that was answered."""

    @property
    def held(self) -> frozenset[str]:
        """Tokens of the jobs that run or whose outcome is not yet known to be recorded."""
        return frozenset(self._running | self._unanswered)

    def end(self, ended: Ended) -> None:
        """A job ended: its slot is free, its outcome goes with the next trip."""
        self._running.discard(ended.token)
        self._refused.pop(ended.token, None)
        self._unanswered.add(ended.token)
        self._ended.append(ended)
        self._wake.set()

    def abandon(self, token: str) -> None:
        """A job was stopped without an outcome: its lease stays, and is returned when this process ends."""
        self._running.discard(token)
        self._unanswered.add(token)
        self._wake.set()

    def warn_of_unrecorded(self) -> None:
        """Name each job whose own log line says how it ended, and whose outcome is not recorded."""
        for ended in (*self._refused.values(), *self._ended):
            log.warning(
                "the outcome of job %s (%s), %s, could not be recorded: the job runs again elsewhere, "
                "unless Redis took it and only the answer was lost",
                ended.jid,
                ended.job_name,
                ended.kind,
            )

    def look(self) -> None:
        """Make a trip soon: a bell rang, or pause, configuration or slots have changed."""
        self._look = True
        self._wake.set()

    def quiet(self) -> None:
        """Take no more jobs."""
        self.is_quiet = True
        self.look()

    def finish(self) -> None:
        """Take no more jobs, and return from `run` once those that run have ended and are recorded."""
        self._finishing.set()
        self.quiet()

    async def run(self, waits: Waits) -> None:
        """Trip and rest. Returns when finished. Raises LeaseLost when it was declared dead."""
        paused: frozenset[str] = frozenset()
        queues = frozenset(self._options.queue_names)
        while True:
            self._wake.clear()
            if self._ended or self._look:
                answer = await self._trip()
                if answer is None:
                    return
                paused = answer
                continue
            if self._has_recovered:
                self._has_recovered = False
                waits.try_again()
            await waits.only(queues - paused if self._free else frozenset())
            if self._finishing.is_set() and not (self._running or self._ended or self._refused or self._look):
                return
            await self._wake.wait()

    @property
    def _free(self) -> int:
        return 0 if self.is_quiet else max(0, min(self.slots - len(self._running), MAX_PER_TRIP))

    @property
    def _has_nothing_to_tell(self) -> bool:
        """It is to finish, and nothing runs or waits to be recorded: Redis need not be waited for."""
        return self._finishing.is_set() and not (self._running or self._ended or self._refused)

    async def _trip(self) -> frozenset[str] | None:
        """The paused queues; None if Redis is away and there is nothing to tell it."""
        self._look = False
        batch = tuple(self._ended[:MAX_PER_TRIP])
        reply = await self._deliver(batch)
        if reply is None:
            return None
        self.answered += 1
        del self._ended[: len(batch)]
        for ended, answer in zip(batch, reply.answers, strict=True):
            self._settle(ended, answer)
        for job in reply.jobs:
            self._running.add(job.token)
            self._tally.add(metrics.LEASED, job.queue)
            self._start(job)
        if reply.left and self._free:
            self._look = True
        return reply.paused

    async def _deliver(self, batch: tuple[Ended, ...]) -> Reply | None:
        """Send the same bytes until they are answered, or until there is nothing to tell."""
        trip = self._plan(batch, self._config.view.epoch)
        while True:
            started = time.monotonic()
            try:
                reply = await store.send(self._direct, trip)
            except (RedisError, OSError) as error:
                self._tally.add(metrics.REDIS_ERRORS, "trip")
                if not self._has_nothing_to_tell:
                    await self._outage.wait(error, self._finishing)
                if self._has_nothing_to_tell:
                    return None
                continue
            self._has_recovered |= self._outage.over()
            self._tally.add(metrics.TRIPS, reply.status.lower())
            self._tally.add(metrics.TRIP_SECONDS, amount=time.monotonic() - started)
            self._tally.add(metrics.TRIP_OUTCOMES, amount=len(batch))
            if reply.status in (Status.OK, Status.REPEAT):
                return reply
            if reply.status is not Status.RECONFIG:
                raise LeaseLost(
                    f"incarnation {self._incarnation} was declared dead ({reply.status}): "
                    "its jobs were returned to their queues"
                )
            trip = await self._reconfigured(batch)

    async def _reconfigured(self, batch: tuple[Ended, ...]) -> Trip:
        before = self._config.view.epoch
        view = await self._config.arefresh(self._client)
        # A configuration that cannot be read must not stop the work: the last good one holds.
        return self._plan(batch, view.epoch if view.epoch != before else store.ANY_EPOCH)

    def _plan(self, batch: tuple[Ended, ...], epoch: str) -> Trip:
        names = order(self._options.queues, self._options.queue_order, self._rng)
        policies = {name: self._config.view.queue(name) for name in names}
        return store.plan(
            self._incarnation,
            self.answered + 1,
            epoch=epoch,
            free=self._free,
            sources=[Source(name, bool(policy and policy.paused)) for name, policy in policies.items()],
            ended=batch,
            now=time.time(),
        )

    def _settle(self, ended: Ended, answer: Answer) -> None:
        if answer is Answer.REFUSED:
            self._tally.add(metrics.OUTCOMES_REFUSED)
            log.error(
                "Redis refuses to record the outcome of job %s (%s); it is kept and tried again: "
                "is a key of another type in the place of `retry`, `dead` or `schedule`?",
                ended.jid,
                ended.kind,
            )
            self._refused[ended.token] = ended
            asyncio.get_running_loop().call_later(REFUSED_AGAIN_SECONDS, self.end, ended)
            return
        self._unanswered.discard(ended.token)
        if answer is Answer.LOST:
            self._tally.add(metrics.LEASES_LOST)
            log.warning(
                "the outcome of job %s (%s), %s, came too late: the job was returned to its queue "
                "and runs again elsewhere",
                ended.jid,
                ended.job_name,
                ended.kind,
            )
            return
        self._tally.add(metrics.JOBS, ended.queue, ended.job_name, ended.kind)
        self._tally.observe_runtime(ended.queue, ended.job_name, ended.milliseconds, failed=ended.failed)
