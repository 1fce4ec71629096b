"""The workers of one group at work: every tick it samples, decides by the control law, and obeys.

Made by the runner, one per group. The law is `stanchion.scaling`, the processes are the fleet's; here they
meet. It must survive a Redis that is away: then the number holds.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable

import redis.asyncio
from redis.exceptions import RedisError

from stanchion.dev.fleet import Fleet
from stanchion.dev.group import LEAD_SECONDS, Group
from stanchion.dev.status import QueueStatus
from stanchion.scaling.autoscaler import Rider, step
from stanchion.scaling.facts import QueueFacts
from stanchion.scaling.history import ScalingState
from stanchion.store.facts import sample

RATE_SAMPLES = 6
"""Ticks over which the shown rate is taken."""
Announce = Callable[[str, str], None]
"""Takes a queue and a sentence about its workers."""


class GroupRunner:
    """A group, its fleet and its scaling state."""

    def __init__(
        self, group: Group, fleet: Fleet | None, client: redis.asyncio.Redis, announce: Announce
    ) -> None:
        self.group = group
        self.fleet = fleet
        self._client = client
        self._announce = announce
        self._scaling = ScalingState.empty()
        self._facts: tuple[QueueFacts, ...] | None = None
        self._recent: deque[tuple[QueueFacts, ...]] = deque(maxlen=RATE_SAMPLES)
        self._reason = ""
        self._idle_since: float | None = None

    @property
    def idle_seconds(self) -> float:
        """For how long nothing has waited, run or been about to fall due; 0 while that is unknown."""
        return 0.0 if self._idle_since is None else time.monotonic() - self._idle_since

    async def change(self, group: Group, fleet: Fleet | None) -> None:
        """Obey another form of the policy. Workers stay unless their command differs; a fleet that is no
        longer wanted drains."""
        self.group = group
        self._facts = None  # the queues may be others
        self._recent.clear()
        if self.fleet is None or fleet is None:
            if self.fleet is not None:
                await self.fleet.drain()
            self.fleet = fleet
        elif self.fleet.command != fleet.command:
            await self.fleet.replace(fleet.command)

    async def look(self) -> None:
        """Only see how things stand, as while the workers drain."""
        self._facts = await self._look()
        if self._facts is not None:
            self._recent.append(self._facts)
        self._note_idleness()

    async def tick(self) -> None:
        """One look, one decision, one adjustment."""
        await self.look()
        if self.fleet is None:
            return
        before = self.fleet.wanted
        self.fleet.wanted = self._decide(before)
        if self.fleet.wanted != before:
            self._announce(self.group.policy.queue, f"{before} → {self.fleet.wanted} workers  {self._reason}")
        await self.fleet.adjust(self._busy_by_pid())

    def statuses(self) -> tuple[QueueStatus, ...]:
        """One row per queue of the group, the owner's first."""
        return tuple(
            self._status(index, queue, target)
            for index, (queue, target) in enumerate(
                (policy.queue, policy.latency_target_seconds)
                for policy in (self.group.policy, *self.group.riders)
            )
        )

    async def _look(self) -> tuple[QueueFacts, ...] | None:
        """The facts of all queues of the group, or None if any cannot be read."""
        try:
            return tuple(
                [await sample(self._client, queue, lead_seconds=LEAD_SECONDS) for queue in self.group.queues]
            )
        except RedisError as error:
            self._reason = f"held: Redis cannot be read ({error})"
            return None

    def _decide(self, current: int) -> int:
        fixed = self.group.fixed_workers
        if fixed is not None:
            self._reason = f"fixed by mode {self.group.policy.effective_autoscaling.mode}"
            return fixed
        own, *others = self._facts or (None,)
        riders = [
            Rider(facts, policy.latency_target_seconds)
            for facts, policy in zip(others, self.group.riders, strict=bool(own))
            if facts is not None
        ]
        self._scaling, decision = step(
            self._scaling, self.group.scaling, own, current, time.monotonic(), riders=riders
        )
        if own is not None:
            self._reason = decision.reason
        return decision.desired

    def _note_idleness(self) -> None:
        if self._facts is None or not all(facts.idle for facts in self._facts):
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = time.monotonic()

    def _busy_by_pid(self) -> dict[int, int]:
        """Pid → busy slots, from the heartbeats of this machine's processes."""
        here = socket.gethostname()
        return {
            process.pid: process.busy
            for facts in self._facts or ()
            for process in facts.processes
            if process.hostname == here
        }

    def _status(self, index: int, queue: str, target_seconds: float) -> QueueStatus:
        facts = self._facts[index] if self._facts is not None else None
        fleet = self.fleet
        return QueueStatus(
            queue=queue,
            target_seconds=target_seconds,
            running=self._running(),
            wanted=fleet.wanted if fleet else 0,
            draining=fleet.draining if fleet else 0,
            age_seconds=facts.oldest_age_seconds if facts else None,
            waiting=facts.waiting if facts else None,
            busy=facts.busy if facts else None,
            rate_per_second=self._finished_per_second(index),
            paused=facts.paused if facts else False,
            reason=self._reason,
            rides_on=self.group.policy.queue if index else "",
            runs_here=fleet is not None,
            elsewhere=len(facts.processes) if facts else 0,
        )

    def _running(self) -> int:
        """Workers that take jobs: those that have registered, where the command does so."""
        if self.fleet is None:
            return 0
        if self._facts is None or not self.fleet.command.beats:
            return self.fleet.running
        return len(self._busy_by_pid().keys() & set(self.fleet.pids))

    def _finished_per_second(self, index: int) -> float | None:
        """Attempts that ended per second over the last looks; None right after the start or a flush."""
        if len(self._recent) < 2:
            return None
        first, last = self._recent[0][index], self._recent[-1][index]
        seconds, ended = last.at_seconds - first.at_seconds, last.done - first.done
        return ended / seconds if seconds > 0 and ended >= 0 else None
