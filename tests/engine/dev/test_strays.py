"""Queues that nothing here declares are found while jobs wait in them and nobody would take them."""

from __future__ import annotations

import json

import pytest
import redis.asyncio

from stanchion.dev import strays
from stanchion.dev.strays import MOST_SHOWN, Strays
from stanchion.store import keys

pytestmark = pytest.mark.redis


async def push(client: redis.asyncio.Redis, queue: str, jobs: int = 1) -> None:
    await client.sadd(keys.QUEUES, queue)
    await client.lpush(keys.queue(queue), *(f"job {number}" for number in range(jobs)))


async def test_only_undeclared_queues_with_jobs_are_strays(aredis: redis.asyncio.Redis) -> None:
    await push(aredis, "declared")
    await push(aredis, "typo", jobs=3)
    await aredis.sadd(keys.QUEUES, "empty", "broken")
    await aredis.set(keys.queue("broken"), "no list")
    (stray,) = (await strays.find(aredis, {"declared"})).shown
    assert (stray.queue, stray.waiting, stray.unserved) == ("typo", 3, True)


async def test_a_queue_that_a_live_process_serves_is_none(aredis: redis.asyncio.Redis) -> None:
    await push(aredis, "ruby")
    info = json.dumps({"hostname": "h", "pid": 7, "queues": ["ruby"], "concurrency": 5})
    await aredis.sadd(keys.PROCESSES, "h:7:a")
    await aredis.hset(keys.process("h:7:a"), mapping={"info": info, "busy": 0})
    assert await strays.find(aredis, frozenset()) == Strays()


async def test_the_longest_are_shown_and_the_others_counted(aredis: redis.asyncio.Redis) -> None:
    for number in range(MOST_SHOWN + 2):
        await push(aredis, f"q{number}", jobs=number + 1)
    found = await strays.find(aredis, frozenset())
    assert (found.shown[0].queue, len(found.shown), found.further) == ("q11", MOST_SHOWN, 2)
