"""What each transition of a job costs Redis: one script, and a stated number of commands inside it.

A bound is so many commands for the call and so many for each job in it, whatever else waits in Redis.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
import redis.asyncio

from stanchion.store import enqueue, keys, membership, recovery, schedule
from stanchion.store import lead as leading
from stanchion.store import trip as trips
from stanchion.store.enqueue import EnqueueItem, EnqueueRequest
from stanchion.store.recovery import Member
from stanchion.store.schedule import Promotion
from stanchion.store.trip import Ended, Kind, Source

pytestmark = pytest.mark.redis

NOW = 1_796_064_278.25
IDENTITY, ME = "vm:1:abc", "me"
QUEUES = ("mail",)
MEMBER = Member(IDENTITY, ME, QUEUES)
BYSTANDERS = 500
"""Jobs that wait in every place and have nothing to do with the call."""
SCRIPT_CALLS = {"evalsha", "eval"}
OURS = {"config|resetstat", "info"}

Act = Callable[[redis.asyncio.Redis, int], Awaitable[object]]


def payload(number: int) -> bytes:
    return b'{"class":"A","jid":"j%d","queue":"mail","args":[]}' % number


async def push(client: redis.asyncio.Redis, jobs: int, due_at: float | None = None) -> None:
    items = tuple(EnqueueItem(f"j{n}", payload(n), "mail", due_at, False) for n in range(jobs))
    await enqueue.aenqueue(client, EnqueueRequest("lane", 1, "", items, 60))


async def schedule_some(client: redis.asyncio.Redis, jobs: int) -> None:
    await push(client, jobs, due_at=NOW)


async def fetch(client: redis.asyncio.Redis, jobs: int) -> None:
    await trip(client, free=jobs)


def finish(kind: Kind) -> Act:
    async def act(client: redis.asyncio.Redis, jobs: int) -> None:
        ended = tuple(
            Ended(f"1.{n}", "mail", "A", f"j{n}", kind, 40, payload=payload(n), score=NOW, dead_jobs=10_000)
            for n in range(1, jobs + 1)
        )
        await trip(client, ended=ended)

    return act


async def trip(client: redis.asyncio.Redis, *, free: int = 0, ended: tuple[Ended, ...] = ()) -> None:
    number = 2 if ended else 1
    sources = tuple(map(Source, QUEUES))
    plan = trips.plan(ME, number, epoch="", free=free, sources=sources, ended=ended, now=NOW)
    await trips.send(client, plan)


async def repeat(client: redis.asyncio.Redis, jobs: int) -> None:
    await trip(client, free=jobs)


async def promote(client: redis.asyncio.Redis, jobs: int) -> None:
    found = [Promotion(payload(n), "mail", payload(n)) for n in range(jobs)]
    assert await schedule.promote(client, keys.SCHEDULE, found, NOW) == jobs


async def beat(client: redis.asyncio.Redis, jobs: int) -> None:
    await membership.beat(client, IDENTITY, {"busy": "1"}, {str(n): "{}" for n in range(jobs)})


async def renew(client: redis.asyncio.Redis, jobs: int) -> None:
    held = [f"1.{n}" for n in range(1, jobs + 1)]
    assert await membership.renew(client, ME, QUEUES, answered=1, held=held) == 0


async def renew_forgotten(client: redis.asyncio.Redis, jobs: int) -> None:
    assert await membership.renew(client, ME, QUEUES, answered=1, held=()) == jobs


async def fence(client: redis.asyncio.Redis, jobs: int) -> None:
    await recovery.fence(client, MEMBER)


async def ring(client: redis.asyncio.Redis, jobs: int) -> None:
    await client.lpush(keys.inbox(ME, "mail"), *(payload(n) for n in range(jobs)))


async def return_inboxes(client: redis.asyncio.Redis, jobs: int) -> None:
    assert await membership.return_inboxes(client, ME, QUEUES) == jobs


async def lead(client: redis.asyncio.Redis, jobs: int) -> None:
    await leading.lead(client, keys.SCHEDULER_LEADER, IDENTITY, 3.0)


async def forget(client: redis.asyncio.Redis, jobs: int) -> None:
    await recovery.forget(client, MEMBER)


async def enlist(client: redis.asyncio.Redis, jobs: int) -> None:
    await membership.enlist(client, "vm:2:abc")


async def register(client: redis.asyncio.Redis, jobs: int) -> None:
    await membership.register(client, IDENTITY, "another", QUEUES)


@dataclass(frozen=True)
class Cost:
    """`before` are the steps that lead to `act`, the one that is counted."""

    act: Act
    per_call: int
    per_job: int
    before: tuple[Act, ...] = ()


COSTS = {
    "enqueue": Cost(push, 3, 4),
    "enqueue later": Cost(schedule_some, 3, 2),
    "fetch": Cost(fetch, 11, 0, (push,)),
    "fetch, repeated": Cost(repeat, 2, 1, (push, fetch)),
    "finish done": Cost(finish(Kind.DONE), 15, 1, (push, fetch)),
    "finish retry": Cost(finish(Kind.RETRY), 15, 3, (push, fetch)),
    "finish dead": Cost(finish(Kind.DEAD), 15, 5, (push, fetch)),
    "promote": Cost(promote, 0, 4, (schedule_some,)),
    "beat": Cost(beat, 12, 0),
    "renew": Cost(renew, 2, 0, (push, fetch)),
    "renew, forgotten": Cost(renew_forgotten, 2, 3, (push, fetch)),
    "return inboxes": Cost(return_inboxes, 1, 1, (ring,)),
    "fence": Cost(fence, 3, 1, (ring,)),
    "forget": Cost(forget, 4, 0),
    "lead": Cost(lead, 4, 0),
    "enlist": Cost(enlist, 2, 0),
    "register": Cost(register, 5, 0),
}


@pytest.fixture
async def client(aredis: redis.asyncio.Redis) -> redis.asyncio.Redis:
    """One registered child, and a crowd in every place."""
    await membership.enlist(aredis, IDENTITY)
    await membership.register(aredis, IDENTITY, ME, QUEUES)
    crowd = [b"bystander %d" % n for n in range(BYSTANDERS)]
    await aredis.lpush(keys.queue("mail"), *crowd)
    for name in (keys.SCHEDULE, keys.RETRY, keys.DEAD):
        await aredis.zadd(name, dict.fromkeys(crowd, NOW + 3600))
    return aredis


@pytest.mark.parametrize("jobs", [1, 50])
@pytest.mark.parametrize("name", COSTS)
async def test_a_transition_is_one_script_of_bounded_cost(
    client: redis.asyncio.Redis, name: str, jobs: int
) -> None:
    cost = COSTS[name]
    for step in cost.before:
        await step(client, jobs)
    scripts, commands = await count(client, cost.act, jobs)
    assert scripts == 1
    assert commands <= cost.per_call + cost.per_job * jobs


@pytest.mark.parametrize("jobs", [1, 50])
async def test_the_recovery_of_a_child_is_three_scripts_and_two_looks(
    client: redis.asyncio.Redis, jobs: int
) -> None:
    """Fence, return, forget; and what is leased is read before and after."""

    async def retire(client: redis.asyncio.Redis, jobs: int) -> None:
        await recovery.retire(client, MEMBER, counted=True, now=NOW)

    await push(client, jobs)
    await fetch(client, jobs)
    scripts, commands = await count(client, retire, jobs)
    assert scripts == 3
    assert commands <= 12 + 5 * jobs


async def count(client: redis.asyncio.Redis, act: Act, jobs: int) -> tuple[int, int]:
    """Script calls and the commands of one act, those inside scripts included.

    Redis knows the scripts already: an earlier call has loaded them, as in a worker that runs.
    """
    for script in (
        *(enqueue.SCRIPT, trips.SCRIPT, schedule.PROMOTE, leading.LEAD, recovery.FENCE, recovery.RECOVER),
        *(recovery.FORGET, membership.BEAT, membership.RENEW, membership.RETURN_INBOX),
        *(membership.ENLIST, membership.REGISTER),
    ):
        await client.script_load(script.source)
    await client.config_resetstat()
    await act(client, jobs)
    stats = await client.info("commandstats")
    calls = {name.removeprefix("cmdstat_"): one["calls"] for name, one in stats.items()}
    scripts = sum(calls.get(name, 0) for name in SCRIPT_CALLS)
    return scripts, sum(number for name, number in calls.items() if name not in SCRIPT_CALLS | OURS)
