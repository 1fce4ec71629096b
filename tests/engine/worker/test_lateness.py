"""Due jobs are ready in time: beside a hundred thousand others, after the leader's death, in a long queue."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import redis
import redis.asyncio

from stanchion.metrics import Tally
from stanchion.store import keys, schedule
from stanchion.worker.lead import LEAD_SECONDS
from stanchion.worker.life import Life
from stanchion.worker.options import QueueWeight, WorkerOptions
from stanchion.worker.scheduler import Scheduler
from waiting import auntil

pytestmark = pytest.mark.redis

OPTIONS = WorkerOptions("app:app", (QueueWeight("mail"),))
PROMISED_SECONDS = 1.0


def payload(jid: str, **fields: Any) -> str:
    return json.dumps({"class": "A", "jid": jid, "queue": "mail", "args": [], **fields})


def fill(client: redis.Redis, set_key: str, count: int, due_at: float) -> None:
    for start in range(0, count, 10_000):
        jids = range(start, min(start + 10_000, count))
        client.zadd(set_key, {payload(f"{set_key}{jid}"): due_at for jid in jids})


@asynccontextmanager
async def schedulers(client: redis.asyncio.Redis, count: int) -> AsyncIterator[list[asyncio.Task[None]]]:
    """So many processes' schedulers, cancelled in the end."""
    lives = [Life(OPTIONS, client, Tally(), identity=f"vm:{number}:a") for number in range(count)]
    tasks = [asyncio.create_task(Scheduler(life).run()) for life in lives]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_on_time_after_a_restart_of_everything_beside_a_large_retry_set(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    """The old leader was killed just now: its lease still stands when the first jobs fall due."""
    fill(redis_client, keys.RETRY, 100_000, time.time() + 3600)
    redis_client.sadd(keys.PROCESSES, *(f"gone:{number}:a" for number in range(150)))
    began_at = time.time()
    due = {payload(str(number)): began_at + 0.5 + number / 100 for number in range(100)}
    redis_client.zadd(keys.SCHEDULE, due)
    redis_client.set(keys.SCHEDULER_LEADER, "gone:0:a", px=int(LEAD_SECONDS * 1000))
    async with schedulers(aredis, 10):
        await auntil(lambda: not redis_client.exists(keys.SCHEDULE))
    ready: list[Any] = redis_client.lrange(keys.queue("mail"), 0, -1)
    jobs = [json.loads(member) for member in ready]
    late = sorted(job["enqueued_at"] - (began_at + 0.5 + int(job["jid"]) / 100) for job in jobs)
    assert len(late) == 100
    assert late[0] >= 0
    assert late[98] < PROMISED_SECONDS
    assert redis_client.zcard(keys.RETRY) == 100_000


async def test_neither_set_starves_the_other(aredis: redis.asyncio.Redis, redis_client: redis.Redis) -> None:
    for set_key in schedule.SETS:
        fill(redis_client, set_key, 2_000, time.time() - 60)
    async with schedulers(aredis, 1):
        await auntil(lambda: redis_client.llen(keys.queue("mail")) == 4_000)
    order: list[Any] = redis_client.lrange(keys.queue("mail"), 0, -1)
    sets = [json.loads(member)["jid"].rstrip("0123456789") for member in reversed(order)]
    batches = sets[::100]
    assert batches == ["retry", "schedule"] * 20


async def test_a_leader_that_stops_gives_the_lead_up(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    async with schedulers(aredis, 1):
        await auntil(lambda: redis_client.get(keys.SCHEDULER_LEADER) == b"vm:0:a")
    assert not redis_client.exists(keys.SCHEDULER_LEADER)


async def test_a_leader_that_freezes_is_followed_within_its_lease(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    async with schedulers(aredis, 3):
        await auntil(lambda: redis_client.exists(keys.SCHEDULER_LEADER))
        redis_client.set(keys.SCHEDULER_LEADER, "vm:frozen:a", px=int(LEAD_SECONDS * 1000))
        redis_client.zadd(keys.RETRY, {payload("x"): time.time()})
        await auntil(lambda: redis_client.llen(keys.queue("mail")), timeout_seconds=LEAD_SECONDS + 1)
