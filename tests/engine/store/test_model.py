"""Whatever the order of operations, deaths, lost replies and fail-overs: each job is in exactly one place.

Hypothesis drives the real scripts on a real Redis, as clients, children, supervisors, observers and
schedulers would, and looks at all places after every step. More: STANCHION_TEST_MODEL_EXAMPLES=5000.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

import pytest
import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from engine.mortal import Killed, Mortal
from engine.places import in_two_places, places
from engine.store.knowledge import QUEUES, Child, Memory
from stanchion.errors import LeaseLost
from stanchion.lane import Lane
from stanchion.store import connection, enqueue, keys, membership, recovery, schedule
from stanchion.store import trip as trips
from stanchion.store.enqueue import EnqueueItem, EnqueueRequest, LaneTaken, Recorded
from stanchion.store.recovery import Member
from stanchion.store.schedule import Promotion
from stanchion.store.trip import Answer, Ended, Kind, Leased, Reply, Source, Status

pytestmark = pytest.mark.redis

EXAMPLES = int(os.environ.get("STANCHION_TEST_MODEL_EXAMPLES", "150"))
STEPS = 40
SOURCES = tuple(map(Source, QUEUES))
AWAY = (Kind.DONE, Kind.DISCARD, Kind.EXPIRED)
NOW, LATER = 1_796_064_278.0, 1_796_067_878.0
MAX_CHILDREN, MAX_PROCESSES = 4, 2

queue_names = st.sampled_from(QUEUES)
picks = st.integers(0, 11)
commands_before_death = st.integers(0, 6) | st.just(1_000)
T = TypeVar("T")


class Engine(RuleBasedStateMachine):
    """Everybody who calls the scripts."""

    url: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.redis = connection.connect_async(self.url)
        self.eye: redis.Redis = connection.connect(self.url)
        self.eye.flushall()
        self.accepted: set[str] = set()
        self.gone: set[str] = set()
        self.children: list[Child] = []
        self.graves: list[Child] = []
        self.late: set[Child] = set()
        """Those whom Redis served although they had been declared dead: their inboxes are looked at again."""
        self.processes: list[str] = []
        self.lane = Lane()
        self.former_call: EnqueueRequest | None = None
        self.memory: Memory | None = None
        self.is_rolled_back = False
        self.names = 0

    def run(self, operation: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(operation)

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def child(self, pick: int) -> Child:
        return self.children[pick % len(self.children)]

    # --- clients ------------------------------------------------------------------------------------

    @rule(queue=queue_names, count=st.integers(1, 4), is_scheduled=st.booleans(), is_repeated=st.booleans())
    def push(self, queue: str, count: int, is_scheduled: bool, is_repeated: bool) -> None:
        self.lane.advance()
        items = []
        for _ in range(count):
            jid = self.name("jid")
            payload = json.dumps({"class": "A", "jid": jid, "queue": queue}, separators=(",", ":")).encode()
            items.append(EnqueueItem(jid, payload, queue, NOW if is_scheduled else None, False))
        request = EnqueueRequest(self.lane.nonce, self.lane.number, "", tuple(items), 60)
        reply = self.run(enqueue.aenqueue(self.redis, request))
        assert isinstance(reply, Recorded)
        self.accepted |= {item.jid for item in items}
        if is_repeated:
            assert self.unchanged(enqueue.aenqueue(self.redis, request)) == reply
        if self.former_call is not None:
            assert self.unchanged(enqueue.aenqueue(self.redis, self.former_call)) == LaneTaken()
        self.former_call = request

    @rule()
    def pause(self) -> None:
        if not self.eye.srem(keys.PAUSED, "slow"):
            self.eye.sadd(keys.PAUSED, "slow")

    @rule(name=st.sampled_from(schedule.SETS), limit=st.integers(1, 5))
    def promote(self, name: str, limit: int) -> None:
        """Two schedulers that saw the same: the second moves nothing."""
        due = self.run(schedule.due(self.redis, name, LATER, limit))
        found = [Promotion(member, json.loads(member)["queue"], member) for member, _ in due]
        assert self.run(schedule.promote(self.redis, name, found, LATER)) == len(found)
        assert self.unchanged(schedule.promote(self.redis, name, found, LATER)) == 0

    # --- children -----------------------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        self.hire()
        self.hire()

    @precondition(lambda self: self.children)
    @rule(pick=picks, count=st.integers(1, 4), is_lost=st.booleans())
    def burst(self, pick: int, count: int, is_lost: bool) -> None:
        """Work for sure: left to chance, most steps would find no job in anybody's hands."""
        self.push("mail", count, is_scheduled=False, is_repeated=False)
        self.trip(pick, count, [], is_lost)

    @precondition(lambda self: len(self.children) < MAX_CHILDREN)
    @rule()
    def hire(self) -> None:
        if len(self.processes) < MAX_PROCESSES:
            self.processes.append(self.name("vm:1:"))
            self.run(membership.enlist(self.redis, self.processes[-1]))
        child = Child(self.processes[0], self.name("child"))
        self.processes.reverse()
        try:
            self.run(membership.register(self.redis, child.identity, child.incarnation, QUEUES))
        except LeaseLost:
            self.forsake(child.identity)
        else:
            self.children.append(child)

    @precondition(lambda self: self.children)
    @rule(pick=picks, queue=queue_names)
    def ring(self, pick: int, queue: str) -> None:
        """What a blocked wait does when a job comes; to a dead child too, if Redis has not seen it close."""
        waiting = [*self.children, *self.graves]
        child = waiting[pick % len(waiting)]
        moved = self.eye.lmove(keys.queue(queue), keys.inbox(child.incarnation, queue), "RIGHT", "LEFT")
        if moved and self.eye.get(keys.trip(child.incarnation)) in (None, b"dead"):
            self.late.add(child)

    @precondition(lambda self: self.children)
    @rule(
        pick=picks,
        free=st.integers(0, 4),
        kinds=st.lists(st.sampled_from(Kind), max_size=3),
        is_lost=st.booleans(),
    )
    def trip(self, pick: int, free: int, kinds: list[Kind], is_lost: bool) -> None:
        child = self.child(pick)
        if child.unanswered is None:
            child.batch = tuple(
                self.ended(job, kind) for job, kind in zip(child.held.values(), kinds, strict=False)
            )
            child.unanswered = trips.plan(
                child.incarnation,
                child.number + 1,
                epoch="",
                free=free,
                sources=SOURCES,
                ended=child.batch,
                now=NOW,
            )
        before = places(self.eye)
        reply = self.run(trips.send(self.redis, child.unanswered))
        if reply.status is Status.FENCED:
            assert places(self.eye) == before
            self.child_ends(child)
            return
        if reply.status is Status.REPEAT:
            assert places(self.eye) == before
            assert child.lost_reply is None or reply.answers == child.lost_reply.answers
            assert child.lost_reply is None or set(reply.jobs) <= set(child.lost_reply.jobs)
        else:
            assert reply.status is Status.OK
            self.note_gone(child.batch, reply)
        child.lost_reply = reply if is_lost else None
        if not is_lost:
            self.settle(child, reply)

    @precondition(lambda self: any(child.former for child in self.children))
    @rule(pick=picks)
    def late_trip(self, pick: int) -> None:
        """The same bytes again, long after their reply: a network that repeats."""
        child = self.child(pick)
        if child.former is not None:
            reply = self.unchanged(trips.send(self.redis, child.former))
            assert reply.status in (Status.STALE, Status.REPEAT, Status.FENCED)

    def ended(self, job: Leased, kind: Kind) -> Ended:
        jid = json.loads(job.payload)["jid"]
        return Ended(
            job.token, job.queue, "A", jid, kind, 1, payload=job.payload, score=NOW, dead_jobs=10_000
        )

    def note_gone(self, batch: tuple[Ended, ...], reply: Reply) -> None:
        for ended, answer in zip(batch, reply.answers, strict=True):
            assert answer in (Answer.RECORDED, Answer.LOST)
            if answer is Answer.RECORDED and ended.kind in AWAY:
                assert ended.jid not in self.gone, "an outcome was recorded twice"
                self.gone.add(ended.jid)

    def settle(self, child: Child, reply: Reply) -> None:
        child.number += 1
        child.former, child.unanswered = child.unanswered, None
        for ended in child.batch:
            del child.held[ended.token]
        child.held |= {job.token: job for job in reply.jobs}

    # --- supervisors --------------------------------------------------------------------------------

    @precondition(lambda self: self.children)
    @rule(pick=picks)
    def report(self, pick: int) -> None:
        child = self.child(pick)
        child.reported = (child.number, tuple(child.held))

    @precondition(lambda self: self.processes)
    @rule(pick=picks)
    def beat(self, pick: int) -> None:
        identity = self.processes[pick % len(self.processes)]
        try:
            self.run(membership.beat(self.redis, identity, {"busy": "1"}, {}))
        except LeaseLost:
            self.forsake(identity)
            return
        for child in [child for child in self.children if child.identity == identity]:
            answered, held = child.reported
            renewal = membership.renew(self.redis, child.incarnation, QUEUES, answered=answered, held=held)
            assert self.run(renewal) == 0 or self.is_rolled_back, "a job in hand was given to somebody else"

    @precondition(lambda self: self.children)
    @rule(pick=picks)
    def free_hostages(self, pick: int) -> None:
        """Of a child that is stuck, or of one that was served after its death."""
        for child in [self.child(pick), *self.late]:
            self.run(membership.return_inboxes(self.redis, child.incarnation, QUEUES))

    @precondition(lambda self: self.children)
    @rule(pick=picks, commands=commands_before_death, is_sent=st.booleans())
    def child_dies(self, pick: int, commands: int, is_sent: bool) -> None:
        """Its supervisor returns its jobs, and may be killed while it does."""
        child = self.child(pick)
        self.children.remove(child)
        self.graves.append(child)
        self.retire(child.member, commands, is_sent)

    @precondition(lambda self: self.graves)
    @rule(pick=picks, commands=commands_before_death, is_sent=st.booleans())
    def bury_again(self, pick: int, commands: int, is_sent: bool) -> None:
        self.retire(self.graves[pick % len(self.graves)].member, commands, is_sent)

    @rule(pick=picks, commands=commands_before_death, is_sent=st.booleans(), is_alive=st.booleans())
    def observe(self, pick: int, commands: int, is_sent: bool, is_alive: bool) -> None:
        """Somebody's beat stood still, or did it? The observer may be killed at any of its commands."""
        beats = sorted(self.run(recovery.beats(self.redis)).items())
        if not beats:
            return
        identity, beat = beats[pick % len(beats)]
        seen = "another" if is_alive else beat
        before = places(self.eye)
        for member in self.run(recovery.members(self.redis, identity, seen)):
            self.retire(member, commands, is_sent)
        if is_alive:
            assert places(self.eye) == before
        elif commands > len(QUEUES):
            self.run(recovery.leave(self.redis, identity, seen))

    def retire(self, member: Member, commands: int, is_sent: bool) -> None:
        client: Any = Mortal(self.redis, commands, is_sent=is_sent)
        with suppress(Killed, LeaseLost):  # the next observer goes on
            self.run(recovery.retire(client, member, counted=True, now=NOW))

    def forsake(self, identity: str) -> None:
        """The process was declared dead: it ends its children and begins a new life."""
        self.processes.remove(identity)
        for child in [child for child in self.children if child.identity == identity]:
            self.child_ends(child)

    def child_ends(self, child: Child) -> None:
        """For a reason its supervisor lives to see."""
        self.children.remove(child)
        self.graves.append(child)
        self.retire(child.member, 1_000, is_sent=False)

    # --- fail-over ----------------------------------------------------------------------------------

    @rule()
    def replicate(self) -> None:
        names: Any = self.eye.keys("*")
        values: dict[bytes, Any] = {
            name: (self.eye.dump(name), max(0, self.eye.pttl(name))) for name in names
        }
        self.memory = Memory(values, frozenset(self.accepted), frozenset(self.gone))

    @precondition(lambda self: self.memory)
    @rule()
    def fail_over(self) -> None:
        """A replica takes over that knows nothing since then; what it does know may not be lost."""
        assert self.memory is not None
        self.eye.flushdb()
        for name, (value, ttl) in self.memory.values.items():
            self.eye.restore(name, ttl, value)
        self.accepted, self.gone = set(self.memory.accepted), set(self.memory.gone)
        self.memory, self.former_call, self.is_rolled_back = None, None, True
        self.lane = Lane()
        for child in self.children:
            child.former = child.lost_reply = None

    # --- what must hold -----------------------------------------------------------------------------

    def unchanged(self, operation: Coroutine[Any, Any, T]) -> T:
        before = places(self.eye)
        result = self.run(operation)
        assert places(self.eye) == before
        return result

    @invariant()
    def each_job_is_in_exactly_one_place(self) -> None:
        held = places(self.eye)
        assert in_two_places(held) == {}
        assert set(held) == self.accepted - self.gone

    def teardown(self) -> None:
        """Nothing is stuck: whatever happened, observers, a scheduler and one new child end every job."""
        try:
            self.end_every_job()
        finally:
            self.run(self.redis.aclose())
            self.runner.close()
            self.eye.close()

    def end_every_job(self) -> None:
        self.eye.delete(keys.PAUSED)
        for identity, beat in self.run(recovery.beats(self.redis)).items():
            for member in self.run(recovery.members(self.redis, identity, beat)):
                self.retire(member, 1_000, is_sent=False)
            self.run(recovery.leave(self.redis, identity, beat))
        assert not self.eye.exists(keys.BEATS)
        for child in self.late:
            self.run(membership.return_inboxes(self.redis, child.incarnation, QUEUES))
        self.children, self.processes = [], []
        for name in schedule.SETS:
            while self.eye.zcard(name):
                self.promote(name, 100)
        self.hire()
        self.trip(0, 1_000, [], is_lost=False)
        self.trip(0, 0, [Kind.DONE] * 1_000, is_lost=False)
        left = places(self.eye)
        assert {place for held in left.values() for place in held} <= {keys.DEAD}, "a job is stuck"
        assert self.gone | set(left) == self.accepted


def test_each_job_is_in_exactly_one_place(redis_url: str) -> None:
    run_state_machine_as_test(
        type("EngineThere", (Engine,), {"url": redis_url}),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
