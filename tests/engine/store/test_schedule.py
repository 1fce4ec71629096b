"""Promotion takes a due member out of its set and pushes it, or does neither."""

from __future__ import annotations

import asyncio

import pytest
import redis.asyncio

from rig.redis_versions import every_redis
from stanchion.store import keys, schedule
from stanchion.store.schedule import Promotion

pytestmark = [pytest.mark.redis, every_redis]

NOW = 1_796_064_278.25


async def test_moves_the_exact_bytes_and_counts_them_eligible(aredis: redis.asyncio.Redis) -> None:
    await aredis.zadd(keys.SCHEDULE, {"due": NOW})
    moved = await schedule.promote(aredis, keys.SCHEDULE, [Promotion(b"due", "mail", b"due now")], NOW)
    assert moved == 1
    assert await aredis.lrange(keys.queue("mail"), 0, -1) == [b"due now"]
    assert await aredis.smembers(keys.QUEUES) == {b"mail"}
    assert await aredis.hgetall(keys.counters("mail")) == {b"eligible_enq": b"1"}
    assert not await aredis.exists(keys.SCHEDULE)


async def test_promoters_who_race_move_a_job_once(aredis: redis.asyncio.Redis) -> None:
    members = [f"job {number}".encode() for number in range(100)]
    await aredis.zadd(keys.RETRY, dict.fromkeys(members, NOW))
    promotions = [Promotion(member, "mail", member) for member in members]
    moved = await asyncio.gather(*(schedule.promote(aredis, keys.RETRY, promotions, NOW) for _ in range(8)))
    assert sum(moved) == 100
    assert sorted(await aredis.lrange(keys.queue("mail"), 0, -1)) == sorted(members)


async def test_what_somebody_else_took_is_not_pushed(aredis: redis.asyncio.Redis) -> None:
    assert await schedule.promote(aredis, keys.RETRY, [Promotion(b"gone", "mail", b"x")], NOW) == 0
    assert await aredis.keys("*") == []


async def test_what_is_no_job_is_buried(aredis: redis.asyncio.Redis) -> None:
    await aredis.zadd(keys.RETRY, {b"\xff": NOW})
    await schedule.promote(aredis, keys.RETRY, [Promotion(b"\xff")], NOW)
    assert await aredis.zrange(keys.DEAD, 0, -1, withscores=True) == [(b"\xff", NOW)]


async def test_peeks_at_due_members_only(aredis: redis.asyncio.Redis) -> None:
    assert await schedule.firsts(aredis) == {keys.RETRY: None, keys.SCHEDULE: None}
    await aredis.zadd(keys.RETRY, {"later": NOW + 1})
    await aredis.zadd(keys.SCHEDULE, {"first": NOW - 2, "second": NOW - 1})
    assert await schedule.firsts(aredis) == {keys.RETRY: NOW + 1, keys.SCHEDULE: NOW - 2}
    assert await schedule.due(aredis, keys.SCHEDULE, NOW, 1) == [(b"first", NOW - 2)]
    assert await schedule.due(aredis, keys.RETRY, NOW, 10) == []


async def test_a_set_that_is_of_another_type_does_not_hide_the_other(aredis: redis.asyncio.Redis) -> None:
    await aredis.set(keys.RETRY, "a key of another type")
    await aredis.zadd(keys.SCHEDULE, {"first": NOW})
    assert await schedule.firsts(aredis) == {keys.SCHEDULE: NOW}


async def test_what_redis_refuses_to_push_stays_and_lets_the_others_pass(aredis: redis.asyncio.Redis) -> None:
    await aredis.set(keys.queue("broken"), "a key of another type")
    await aredis.zadd(keys.RETRY, {"stays": NOW - 1, "goes": NOW})
    promotions = [Promotion(b"stays", "broken", b"x"), Promotion(b"goes", "mail", b"y")]
    assert await schedule.promote(aredis, keys.RETRY, promotions, NOW) == 1
    assert await aredis.lrange(keys.queue("mail"), 0, -1) == [b"y"]
    assert await aredis.zrange(keys.RETRY, 0, -1, withscores=True) == [(b"stays", NOW + 60)]


async def test_what_cannot_be_buried_stays(aredis: redis.asyncio.Redis) -> None:
    await aredis.set(keys.DEAD, "a key of another type")
    await aredis.zadd(keys.RETRY, {b"\xff": NOW})
    assert await schedule.promote(aredis, keys.RETRY, [Promotion(b"\xff")], NOW) == 0
    assert await aredis.zrange(keys.RETRY, 0, -1) == [b"\xff"]


async def test_a_broken_counter_does_not_keep_the_rest_of_the_batch_waiting(
    aredis: redis.asyncio.Redis,
) -> None:
    await aredis.set(keys.counters("mail"), "not a hash")
    await aredis.set(keys.QUEUES, "not a set")
    await aredis.zadd(keys.RETRY, {"one": NOW - 1, "two": NOW})
    promotions = [Promotion(b"one", "mail", b"1"), Promotion(b"two", "mail", b"2")]
    assert await schedule.promote(aredis, keys.RETRY, promotions, NOW) == 2
    assert await aredis.lrange(keys.queue("mail"), 0, -1) == [b"2", b"1"]
