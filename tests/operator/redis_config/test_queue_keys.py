"""Deleting a queue's keys: never a job that was not to go."""

from __future__ import annotations

import pytest
import redis.asyncio

from stanchion.store import keys
from stanchion_operator.redis_config import queue_keys

pytestmark = pytest.mark.redis


async def _fill(client: redis.asyncio.Redis, *payloads: str) -> None:
    await client.sadd(keys.QUEUES, "imports")
    await client.hset(keys.counters("imports"), "enq", "3")
    if payloads:
        await client.lpush(keys.queue("imports"), *payloads)


async def test_an_empty_queue_leaves_nothing(aredis: redis.asyncio.Redis) -> None:
    await _fill(aredis)
    assert await queue_keys.delete(aredis, "imports", with_jobs=False)
    assert await aredis.keys("*") == []


async def test_a_job_pushed_since_the_count_stays(aredis: redis.asyncio.Redis) -> None:
    await _fill(aredis, "job")
    assert not await queue_keys.delete(aredis, "imports", with_jobs=False)
    assert await aredis.lrange(keys.queue("imports"), 0, -1) == [b"job"]
    assert await aredis.hget(keys.counters("imports"), "enq") == b"3"


async def test_force_takes_the_jobs_too(aredis: redis.asyncio.Redis) -> None:
    await _fill(aredis, "job")
    assert await queue_keys.delete(aredis, "imports", with_jobs=True)
    assert await aredis.keys("*") == []
