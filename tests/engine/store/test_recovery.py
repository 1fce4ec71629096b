"""Recovery step by step: the fence first, then the jobs in order, then the lists."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
import redis.asyncio
from redis.exceptions import ResponseError

from rig.redis_versions import every_redis
from stanchion.errors import LeaseLost
from stanchion.store import keys, membership, recovery
from stanchion.store.recovery import JOBS_PER_CALL, RETURNS_BEFORE_QUARANTINE, Member

pytestmark = [pytest.mark.redis, every_redis]

NOW = 1_796_064_278.25
IDENTITY, THEIRS = "vm:1:abc", "theirs"
SEEN = Member(IDENTITY, THEIRS, ("mail", "slow"), beat="0")
REAPED = replace(SEEN, beat="")


def job(number: int) -> bytes:
    return b'{"class":"A","jid":"j%d","args":[]}' % number


@pytest.fixture
async def client(aredis: redis.asyncio.Redis) -> redis.asyncio.Redis:
    """A Redis with one child that holds two leases and an inbox entry."""
    await membership.enlist(aredis, IDENTITY)
    await membership.register(aredis, IDENTITY, THEIRS, ["mail", "slow"])
    await aredis.lpush(keys.queue("mail"), job(5))
    await aredis.lpush(keys.inbox(THEIRS, "mail"), job(4))
    await aredis.hset(
        keys.lease(THEIRS),
        mapping={"9.1": b"mail|1|" + job(1), "10.1": b"mail|2|" + job(3), "9.2": b"mail|1|" + job(2)},
    )
    return aredis


async def test_returns_all_in_order_and_strikes_the_incarnation(client: redis.asyncio.Redis) -> None:
    returned = await recovery.retire(client, REAPED, counted=True, now=NOW)
    assert (returned.jids, returned.quarantined) == (frozenset({"j1", "j2", "j3"}), 0)
    assert await client.lrange(keys.queue("mail"), 0, -1) == [job(number) for number in (5, 4, 3, 2, 1)]
    assert await client.get(keys.trip(THEIRS)) == b"dead"
    assert 86_000 < await client.ttl(keys.trip(THEIRS)) <= 86_400
    # An inbox entry was never started: it is not counted.
    assert await client.hgetall(keys.RECOVERIES) == {b"j1": b"1", b"j2": b"1", b"j3": b"1"}
    assert not await client.exists(
        keys.lease(THEIRS), keys.inbox(THEIRS, "mail"), keys.members(IDENTITY), keys.consumers("mail")
    )
    assert await client.hexists(keys.BEATS, IDENTITY)


async def test_a_broken_queue_keeps_its_inbox_and_no_lease_from_its_queue(
    client: redis.asyncio.Redis,
) -> None:
    await client.lpush(keys.inbox(THEIRS, "slow"), job(6))
    await client.set(keys.queue("slow"), "a key of another type")
    await recovery.retire(client, REAPED, counted=True, now=NOW)
    assert await client.lrange(keys.queue("mail"), 0, -1) == [job(number) for number in (5, 4, 3, 2, 1)]
    assert await client.lrange(keys.inbox(THEIRS, "slow"), 0, -1) == [job(6)]
    assert await membership.return_inboxes(client, THEIRS, ["slow", "mail"]) == 0

    await client.delete(keys.queue("slow"))
    assert [member.incarnation for member in await recovery.members(client, IDENTITY, "")] == [THEIRS]
    await recovery.retire(client, REAPED, counted=True, now=NOW)
    assert await client.lrange(keys.queue("slow"), 0, -1) == [job(6)]
    assert await recovery.members(client, IDENTITY, "") == []


async def test_a_planned_stop_counts_against_nobody(client: redis.asyncio.Redis) -> None:
    await recovery.retire(client, REAPED, counted=False, now=NOW)
    assert not await client.exists(keys.RECOVERIES)


async def test_one_who_beats_again_is_left_alone(client: redis.asyncio.Redis) -> None:
    await membership.beat(client, IDENTITY, {"busy": "0"}, {})
    with pytest.raises(LeaseLost):
        await recovery.retire(client, SEEN, counted=True, now=NOW)
    assert await client.get(keys.trip(THEIRS)) == b"0|0|"
    assert await client.hlen(keys.lease(THEIRS)) == 3


async def test_an_observer_strikes_the_process_with_its_last_child(client: redis.asyncio.Redis) -> None:
    await client.sadd(keys.PROCESSES, IDENTITY)
    await recovery.retire(client, SEEN, counted=True, now=NOW)
    await recovery.leave(client, IDENTITY, "0")
    assert not await client.exists(keys.BEATS, keys.PROCESSES)


async def test_a_process_with_a_child_left_is_not_struck(client: redis.asyncio.Redis) -> None:
    await recovery.leave(client, IDENTITY, "0")
    assert await client.hexists(keys.BEATS, IDENTITY)


async def test_a_job_that_came_back_too_often_is_quarantined(client: redis.asyncio.Redis) -> None:
    await client.hset(keys.RECOVERIES, "j2", RETURNS_BEFORE_QUARANTINE)
    returned = await recovery.retire(client, REAPED, counted=True, now=NOW)
    assert returned.quarantined == 1
    members: list[Any] = await client.zrange(keys.DEAD, 0, -1)
    (buried,) = map(json.loads, members)
    assert buried["jid"] == "j2"
    assert "died 4 times" in buried["error_message"]
    assert await client.lrange(keys.queue("mail"), 0, -1) == [job(number) for number in (5, 4, 3, 1)]
    assert not await client.hexists(keys.RECOVERIES, "j2")


async def test_bytes_that_are_no_job_come_back_too_and_are_quarantined_as_they_are(
    client: redis.asyncio.Redis,
) -> None:
    await client.hset(keys.lease(THEIRS), "11.1", b"mail|1|{no job")
    for _ in range(RETURNS_BEFORE_QUARANTINE):
        await recovery.retire(client, REAPED, counted=True, now=NOW)
        assert await client.rpop(keys.queue("mail")) is not None
        await client.delete(keys.queue("mail"))
        await client.hset(keys.lease(THEIRS), "11.1", b"mail|1|{no job")
    await recovery.retire(client, REAPED, counted=True, now=NOW)
    assert await client.zrange(keys.DEAD, 0, -1) == [b"{no job"]


async def test_many_leases_take_several_calls_and_keep_their_order(client: redis.asyncio.Redis) -> None:
    count = 2 * JOBS_PER_CALL + 1
    await client.delete(keys.lease(THEIRS), keys.inbox(THEIRS, "mail"), keys.queue("mail"))
    await client.hset(
        keys.lease(THEIRS), mapping={f"1.{at}": b"mail|1|" + job(at) for at in range(1, count + 1)}
    )
    await recovery.retire(client, REAPED, counted=True, now=NOW)
    assert await client.lrange(keys.queue("mail"), 0, -1) == [job(at) for at in range(count, 0, -1)]


async def test_observers_who_race_return_each_job_once(client: redis.asyncio.Redis) -> None:
    await asyncio.gather(
        *(recovery.retire(client, SEEN, counted=True, now=NOW) for _ in range(8)), return_exceptions=True
    )
    assert await client.lrange(keys.queue("mail"), 0, -1) == [job(number) for number in (5, 4, 3, 2, 1)]
    assert await client.hgetall(keys.RECOVERIES) == {b"j1": b"1", b"j2": b"1", b"j3": b"1"}


async def test_who_is_still_under_watch(client: redis.asyncio.Redis) -> None:
    await client.hset(keys.RECOVERIES, "j1", 1)
    assert await recovery.under_watch(client, ["j1", "j2"]) == {"j1"}
    assert await recovery.under_watch(client, []) == frozenset()


async def test_a_full_memory_stops_no_recovery(client: redis.asyncio.Redis) -> None:
    await client.config_set("maxmemory", "1")
    try:
        returned = await recovery.retire(client, SEEN, counted=True, now=NOW)
    finally:
        await client.config_set("maxmemory", "0")
    assert len(returned.jids) == 3


async def test_a_job_whose_list_refuses_it_is_buried_and_the_others_return(
    client: redis.asyncio.Redis,
) -> None:
    await client.hset(keys.lease(THEIRS), "9.3", b"slow|1|" + job(6))
    await client.set(keys.queue("slow"), "a key of another type")
    await client.delete(keys.inbox(THEIRS, "mail"))
    returned = await recovery.retire(client, REAPED, counted=True, now=NOW)
    assert returned.quarantined == 1
    assert await client.zrange(keys.DEAD, 0, -1, withscores=True) == [(job(6), NOW)]
    assert await client.lrange(keys.queue("mail"), 0, -1) == [job(5), job(3), job(2), job(1)]


async def test_a_job_with_nowhere_to_go_stays_leased(client: redis.asyncio.Redis) -> None:
    await client.hset(keys.lease(THEIRS), "11.1", b"slow|1|" + job(6))
    await client.set(keys.queue("slow"), "a key of another type")
    await client.set(keys.DEAD, "a key of another type")
    with pytest.raises(ResponseError):
        await recovery.retire(client, REAPED, counted=False, now=NOW)
    assert await client.hget(keys.lease(THEIRS), "11.1") == b"slow|1|" + job(6)
