"""The mark of a periodic job moves together with what is enqueued, for one of all who try."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import redis
import redis.asyncio
from redis.exceptions import ResponseError

from rig.redis_versions import every_redis
from stanchion.periodic import Periodic
from stanchion.store import keys, periodic
from stanchion.store.periodic import Declared

pytestmark = [pytest.mark.redis, every_redis]

NOW = 1_796_064_278.25
ENTRY = "report 0 6 * * * UTC"
DECLARATION = {
    "entry": ENTRY,
    "name": "report",
    "queue": "mail",
    "line": "0 6 * * *",
    "time_zone": "UTC",
    "missed": "skip",
    "args": [],
}


async def tick(client: redis.asyncio.Redis, seen: str, mark: str, *payloads: bytes) -> bool:
    return await periodic.tick(client, ENTRY, seen=seen, mark=mark, queue="mail", payloads=payloads)


async def test_marks_and_pushes_in_one(aredis: redis.asyncio.Redis) -> None:
    assert await tick(aredis, "", "1.0")
    assert not await aredis.exists(keys.queue("mail"), keys.QUEUES)
    assert await tick(aredis, "1.0", "3.0", b"two", b"three")
    assert await aredis.lrange(keys.queue("mail"), 0, -1) == [b"three", b"two"]
    assert await aredis.smembers(keys.QUEUES) == {b"mail"}
    assert await aredis.hgetall(keys.counters("mail")) == {b"enq": b"2", b"eligible_enq": b"2"}
    now, marks = await periodic.marks(aredis, [ENTRY, "unknown"])
    assert marks == ["3.0", ""]
    assert now > NOW / 2


async def test_of_all_who_try_one_enqueues(aredis: redis.asyncio.Redis) -> None:
    for number in range(20):
        done = await asyncio.gather(
            *(tick(aredis, str(number or ""), str(number + 1), b"x") for _ in range(8))
        )
        assert sum(done) == 1
    assert await aredis.llen(keys.queue("mail")) == 20


async def test_what_redis_refuses_leaves_the_mark(aredis: redis.asyncio.Redis) -> None:
    await aredis.set(keys.queue("mail"), "a key of another type")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        await tick(aredis, "", "1.0", b"x")
    assert not await aredis.exists(keys.PERIODIC_TICKS)


async def test_the_list_shows_what_workers_declared(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    await periodic.declare(aredis, [DECLARATION], NOW)
    line = Periodic("0 6 * * *")
    assert periodic.listing(redis_client) == [Declared(ENTRY, "report", "mail", line, NOW, None)]
    await tick(aredis, "", repr(NOW))  # seen first, between two ticks
    (declared,) = periodic.listing(redis_client)
    assert declared.last_at_seconds is None
    await tick(aredis, repr(NOW), repr(line.next_tick(NOW)))
    (declared,) = periodic.listing(redis_client)
    assert declared.last_at_seconds == line.next_tick(NOW)
    assert declared.next_at_seconds(NOW) == line.next_tick(NOW)


async def test_entries_that_nobody_declares_any_more_are_struck(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    await periodic.declare(aredis, [DECLARATION], NOW)
    await tick(aredis, "", repr(NOW))
    later = NOW + periodic.FORGET_SECONDS + 1
    await periodic.declare(aredis, [{**DECLARATION, "entry": "other"}], later)
    assert [one.entry for one in periodic.listing(redis_client)] == ["other"]
    assert not await aredis.exists(keys.PERIODIC_TICKS)


@pytest.mark.parametrize(
    "raw", [b"\xff", "null", "{}", json.dumps({**DECLARATION, "line": "x", "seen_at": 1})]
)
async def test_what_is_no_declaration_is_passed_over(
    raw: Any, aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    await aredis.hset(keys.PERIODIC, "garbage", raw)
    await aredis.hset(keys.PERIODIC_TICKS, ENTRY, "no time")
    await periodic.declare(aredis, [DECLARATION], NOW)
    assert [one.last_at_seconds for one in periodic.listing(redis_client)] == [None]
