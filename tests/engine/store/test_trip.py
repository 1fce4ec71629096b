"""The trip script by itself: each answer, each place a job may go, and what a repeat is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
import redis.asyncio

from rig.redis_versions import every_redis
from stanchion.store import keys, membership, recovery
from stanchion.store import trip as trips
from stanchion.store.recovery import Member
from stanchion.store.trip import ANY_EPOCH, Answer, Ended, Kind, Leased, Reply, Source, Status

pytestmark = [pytest.mark.redis, every_redis]

NOW = 1_796_064_278.25
IDENTITY, ME, OTHER = "vm:1:abc", "me", "other"
MAIL = (Source("mail"),)


@pytest.fixture
async def client(aredis: redis.asyncio.Redis) -> redis.asyncio.Redis:
    """A Redis in which one child is registered for two queues."""
    await membership.enlist(aredis, IDENTITY)
    await membership.register(aredis, IDENTITY, ME, ["mail", "slow"])
    return aredis


def job(number: int) -> bytes:
    return b'{"class":"A","jid":"%d","args":[%d]}' % (number, number)


async def push(client: redis.asyncio.Redis, *numbers: int, queue: str = "mail") -> None:
    for number in numbers:
        await client.lpush(keys.queue(queue), job(number))


async def go(
    client: redis.asyncio.Redis,
    number: int,
    *,
    free: int = 0,
    sources: tuple[Source, ...] = MAIL,
    ended: tuple[Ended, ...] = (),
    epoch: str = "",
    incarnation: str = ME,
) -> Reply:
    trip = trips.plan(incarnation, number, epoch=epoch, free=free, sources=sources, ended=ended, now=NOW)
    return await trips.send(client, trip)


def over(leased: Leased, kind: Kind = Kind.DONE, **fields: Any) -> Ended:
    base = Ended(leased.token, leased.queue, "A", json.loads(leased.payload)["jid"], kind, 40, dead_jobs=10)
    return base._replace(**fields)


def numbers(reply: Reply) -> list[int]:
    return [json.loads(leased.payload)["args"][0] for leased in reply.jobs]


async def test_takes_the_oldest_first_and_no_more_than_fit(client: redis.asyncio.Redis) -> None:
    await push(client, 1, 2, 3)
    reply = await go(client, 1, free=2)
    assert (numbers(reply), reply.left) == ([1, 2], 1)
    assert [leased.token for leased in reply.jobs] == ["1.1", "1.2"]
    assert await client.hlen(keys.lease(ME)) == 2


async def test_takes_its_share_where_others_serve_the_queue(client: redis.asyncio.Redis) -> None:
    """A burst is split among the live children: min(free slots, ceil(length / children))."""
    await membership.register(client, IDENTITY, OTHER, ["mail"])
    await push(client, *range(5))
    assert numbers(await go(client, 1, free=10)) == [0, 1, 2]
    assert numbers(await go(client, 1, free=10, incarnation=OTHER)) == [3]


async def test_takes_queues_in_the_callers_order(client: redis.asyncio.Redis) -> None:
    await push(client, 1, queue="slow")
    await push(client, 2)
    reply = await go(client, 1, free=2, sources=(Source("mail"), Source("slow")))
    assert numbers(reply) == [2, 1]


async def test_a_repeat_gets_the_stored_answers_and_the_same_jobs(client: redis.asyncio.Redis) -> None:
    await push(client, 1, 2, 3)
    first = await go(client, 1, free=1)
    ended = (over(first.jobs[0]), over(first.jobs[0], token="9.9"))
    second = await go(client, 2, free=1, ended=ended)
    assert second.answers == (Answer.RECORDED, Answer.LOST)
    again = await go(client, 2, free=1, ended=ended)
    assert again.status is Status.REPEAT
    assert (again.answers, again.jobs) == (second.answers, second.jobs)
    assert await client.get(keys.STAT_PROCESSED) == b"1"
    assert await client.llen(keys.queue("mail")) == 1


async def test_a_lower_number_is_stale_and_writes_nothing(client: redis.asyncio.Redis) -> None:
    await push(client, 1, 2)
    await go(client, 5, free=1)
    reply = await go(client, 4, free=1)
    assert (reply.status, reply.jobs) == (Status.STALE, ())
    assert await client.llen(keys.queue("mail")) == 1


async def test_a_stranger_and_a_recovered_one_are_fenced(client: redis.asyncio.Redis) -> None:
    await push(client, 1)
    assert (await go(client, 1, free=1, incarnation="never registered")).status is Status.FENCED
    leased = (await go(client, 1, free=1)).jobs[0]
    await recovery.retire(client, Member(IDENTITY, ME, ("mail", "slow")), counted=True, now=NOW)
    assert (await go(client, 2, free=1, ended=(over(leased),))).status is Status.FENCED
    assert await client.lrange(keys.queue("mail"), 0, -1) == [job(1)]
    assert await client.get(keys.STAT_PROCESSED) is None


async def test_another_epoch_is_reconfig_and_uses_no_number(client: redis.asyncio.Redis) -> None:
    await push(client, 1)
    await client.set(keys.CONFIG_EPOCH, "7-abc")
    assert (await go(client, 1, free=1)).status is Status.RECONFIG
    assert (await go(client, 1, free=1, epoch="6-abc")).status is Status.RECONFIG
    assert await client.llen(keys.queue("mail")) == 1
    assert numbers(await go(client, 1, free=1, epoch="7-abc")) == [1]
    # A repeat is answered before the epoch is looked at: the first call did take effect.
    assert (await go(client, 1, free=1, epoch="6-abc")).status is Status.REPEAT


async def test_no_epoch_there_and_no_check_wanted_both_proceed(client: redis.asyncio.Redis) -> None:
    await push(client, 1, 2)
    assert numbers(await go(client, 1, free=1, epoch="7-abc")) == [1]
    await client.set(keys.CONFIG_EPOCH, "8-abc")
    assert numbers(await go(client, 2, free=1, epoch=ANY_EPOCH)) == [2]


@pytest.mark.parametrize("by_policy", [True, False])
async def test_a_paused_queue_is_named_and_its_inbox_goes_back(
    client: redis.asyncio.Redis, by_policy: bool
) -> None:
    await push(client, 1, 2, 3)
    for _ in range(2):
        await client.lmove(keys.queue("mail"), keys.inbox(ME, "mail"), "RIGHT", "LEFT")
    if not by_policy:
        await client.sadd(keys.PAUSED, "mail")
    reply = await go(client, 1, free=3, sources=(Source("mail", by_policy), Source("slow")))
    assert (reply.jobs, reply.paused, reply.left) == ((), frozenset({"mail"}), 0)
    assert await client.lrange(keys.queue("mail"), 0, -1) == [job(3), job(2), job(1)]


async def test_the_inbox_comes_first_and_its_surplus_goes_back_in_order(client: redis.asyncio.Redis) -> None:
    await push(client, 1, 2, 3, 4)
    for _ in range(3):
        await client.lmove(keys.queue("mail"), keys.inbox(ME, "mail"), "RIGHT", "LEFT")
    assert numbers(await go(client, 1, free=1)) == [1]
    assert await client.lrange(keys.queue("mail"), 0, -1) == [job(4), job(3), job(2)]
    assert not await client.exists(keys.inbox(ME, "mail"))


async def test_each_outcome_goes_to_its_place_and_is_counted(client: redis.asyncio.Redis) -> None:
    await push(client, *range(1, 7))
    done, retry, dead, discard, snooze, expired = (await go(client, 1, free=6)).jobs
    await client.hset(keys.RECOVERIES, mapping={"1": 2, "other": 1})
    ended = (
        over(done),
        over(retry, Kind.RETRY, payload=b"retry me", score=NOW + 20, failed=True),
        over(dead, Kind.DEAD, payload=b"bury me", score=NOW, dead_oldest=NOW - 60, failed=True),
        over(discard, Kind.DISCARD, failed=True),
        over(snooze, Kind.SNOOZE, payload=b"later", score=NOW + 60),
        over(expired, Kind.EXPIRED),
    )
    assert (await go(client, 2, ended=ended)).answers == (Answer.RECORDED,) * 6
    assert await client.zrange(keys.RETRY, 0, -1, withscores=True) == [(b"retry me", NOW + 20)]
    assert await client.zrange(keys.DEAD, 0, -1, withscores=True) == [(b"bury me", NOW)]
    assert await client.zrange(keys.SCHEDULE, 0, -1, withscores=True) == [(b"later", NOW + 60)]
    assert await client.hgetall(keys.counters("mail")) == {b"done": b"6", b"failed": b"3", b"busy_ms": b"240"}
    assert await client.hgetall(keys.runtime("A")) == {b"n": b"6", b"ms": b"240", b"b2": b"6"}
    assert await client.mget(keys.STAT_PROCESSED, keys.STAT_FAILED) == [b"6", b"3"]
    assert await client.mget("stat:processed:2026-11-30", "stat:failed:2026-11-30") == [b"6", b"3"]
    assert await client.hgetall(keys.RECOVERIES) == {b"other": b"1"}
    assert not await client.exists(keys.lease(ME))


async def test_dead_is_trimmed_by_age_and_number(client: redis.asyncio.Redis) -> None:
    await client.zadd(keys.DEAD, {"too old": NOW - 61, "old": NOW - 30, "older": NOW - 59})
    await push(client, 1)
    leased = (await go(client, 1, free=1)).jobs[0]
    buried = over(leased, Kind.DEAD, payload=b"new", score=NOW, dead_oldest=NOW - 60, dead_jobs=2)
    await go(client, 2, ended=(buried,))
    assert await client.zrange(keys.DEAD, 0, -1) == [b"old", b"new"]


async def test_a_key_of_the_wrong_type_costs_no_job(client: redis.asyncio.Redis) -> None:
    await push(client, 1, 2)
    one, two = (await go(client, 1, free=2)).jobs
    await client.set(keys.RETRY, "not a set")
    ended = (over(one, Kind.RETRY, payload=b"again", score=NOW), over(two))
    assert (await go(client, 2, ended=ended)).answers == (Answer.REFUSED, Answer.RECORDED)
    assert await client.hkeys(keys.lease(ME)) == [one.token.encode()]
    await client.delete(keys.RETRY)
    assert (await go(client, 3, ended=ended[:1])).answers == (Answer.RECORDED,)


async def test_a_broken_queue_or_counter_does_not_keep_the_outcomes_of_others_out(
    client: redis.asyncio.Redis,
) -> None:
    await push(client, 1, 2)
    leased = (await go(client, 1, free=1)).jobs[0]
    await client.lpush(keys.inbox(ME, "slow"), job(3))
    await client.sadd(keys.PAUSED, "slow")
    await client.set(keys.queue("slow"), "not a list")
    await client.set(keys.counters("mail"), "not a hash")
    await client.set(keys.STAT_PROCESSED, "no number")
    reply = await go(client, 2, free=2, sources=(Source("slow"), *MAIL), ended=(over(leased),))
    assert (reply.status, reply.answers, numbers(reply)) == (Status.OK, (Answer.RECORDED,), [2])
    assert await client.lrange(keys.inbox(ME, "slow"), 0, -1) == [job(3)]
    assert await client.get(keys.stat_day("processed", "2026-11-30")) == b"1"


async def test_a_full_memory_takes_outcomes_and_gives_jobs(client: redis.asyncio.Redis) -> None:
    """Else a full Redis would look like a dead fleet."""
    await push(client, 1, 2)
    leased = (await go(client, 1, free=1)).jobs[0]
    await client.config_set("maxmemory", "1")
    try:
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            await client.set("x", "y")
        retried = over(leased, Kind.RETRY, payload=b"again", score=NOW)
        reply = await go(client, 2, free=1, ended=(retried,))
        assert (reply.answers, numbers(reply)) == ((Answer.RECORDED,), [2])
        assert (await go(client, 3)).status is Status.OK
        await membership.register(client, IDENTITY, OTHER, ["mail"])
        assert await membership.beat(client, IDENTITY, {"busy": "1"}, {"0": "{}"})
    finally:
        await client.config_set("maxmemory", "0")


async def test_payloads_are_opaque(client: redis.asyncio.Redis) -> None:
    raw = b'|1|{"n":12345678901234567890,"e":[],"bytes":"\xff\x00|"}'
    await client.lpush(keys.queue("mail"), raw)
    assert (await go(client, 1, free=1)).jobs == (Leased("1.1", "mail", raw),)


async def test_a_forgotten_script_is_loaded_again(client: redis.asyncio.Redis) -> None:
    await push(client, 1)
    await client.script_flush()
    assert numbers(await go(client, 1, free=1)) == [1]
