"""What a queue leaves in Redis: every job is found, and none that was not to go is deleted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TypeVar
from unittest.mock import ANY

import pytest
import redis.asyncio

from stanchion.store import keys
from stanchion_operator.decide.deletion import Remains
from stanchion_operator.redis_config import queue_keys
from stanchion_operator.redis_config.server import Server

pytestmark = pytest.mark.redis

T = TypeVar("T")


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


async def test_a_push_at_the_same_moment_leaves_no_hidden_queue(
    aredis: redis.asyncio.Redis, redis_url: str
) -> None:
    async with redis.asyncio.Redis.from_url(redis_url) as producer:
        outcomes = set()
        for round_ in range(200):
            await _fill(aredis)
            delay = asyncio.sleep(round_ % 10 / 10_000)  # spread over the few round trips of a removal
            removed, _ = await asyncio.gather(
                queue_keys.delete(aredis, "imports", with_jobs=False), _push_after(delay, producer)
            )
            outcomes.add(removed)
            assert await aredis.llen(keys.queue("imports")) == 1
            assert await aredis.sismember(keys.QUEUES, "imports"), "a job waits where nobody looks"
            await aredis.flushdb()
    assert outcomes == {True, False}, "the push always came first, or always last"


async def _push_after(delay: Awaitable[None], client: redis.asyncio.Redis) -> None:
    await delay
    async with client.pipeline(transaction=True) as pipeline:
        pipeline.sadd(keys.QUEUES, "imports")
        pipeline.lpush(keys.queue("imports"), "job")
        await pipeline.execute()


async def test_force_takes_the_jobs_too(aredis: redis.asyncio.Redis) -> None:
    await _fill(aredis, "job")
    assert await queue_keys.delete(aredis, "imports", with_jobs=True)
    assert await aredis.keys("*") == []


class Counting(Server):
    """Counts the questions: each has a time limit of its own."""

    questions = 0

    async def ask(self, question: Callable[[redis.asyncio.Redis], Awaitable[T]]) -> T:
        self.questions += 1
        return await super().ask(question)


async def _remains(url: str) -> tuple[Remains, int]:
    server = Counting(url)
    try:
        return await queue_keys.remains(server, "imports"), server.questions
    finally:
        await server.close()


def _delayed(queue: str, count: int) -> dict[str, float]:
    return {json.dumps({"class": "a", "args": [], "jid": f"{n}", "queue": queue}): n for n in range(count)}


async def test_a_delayed_job_is_found_among_those_of_other_queues(
    aredis: redis.asyncio.Redis, redis_url: str
) -> None:
    await aredis.zadd(keys.RETRY, {**_delayed("mail", 1_000), "no job": 1})
    assert await _remains(redis_url) == (Remains(0, False, 0), ANY)
    await aredis.zadd(keys.RETRY, _delayed("imports", 1))
    assert await _remains(redis_url) == (Remains(0, True, 0), ANY)


async def test_a_long_schedule_is_read_in_pages_with_a_limit_each(
    aredis: redis.asyncio.Redis, redis_url: str
) -> None:
    await aredis.zadd(keys.SCHEDULE, _delayed("mail", 10 * queue_keys.SCAN_COUNT))
    _, questions = await _remains(redis_url)
    assert questions > 5
    await _fill(aredis, "job")
    remains, questions = await _remains(redis_url)
    assert remains == Remains(1, False, 0)
    assert questions == 2, "where a job waits, nobody looks through the schedule"
