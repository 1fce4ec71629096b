"""Beats and renewals: who is alive, and which leases nobody knows of."""

from __future__ import annotations

from typing import Any

import pytest
import redis.asyncio

from rig.redis_versions import every_redis
from stanchion.errors import LeaseLost
from stanchion.store import keys, membership
from stanchion.store.membership import News

pytestmark = [pytest.mark.redis, every_redis]

IDENTITY, ME = "vm:1:abc", "me"
PROCESS, WORK = {"busy": "1", "quiet": "false"}, {"0": "{}"}


async def test_a_beat_counts_and_brings_the_news(aredis: redis.asyncio.Redis) -> None:
    await membership.enlist(aredis, IDENTITY)
    assert await membership.beat(aredis, IDENTITY, PROCESS, WORK) == News("", "", frozenset())
    await aredis.lpush(keys.signals(IDENTITY), "TSTP", "TERM")
    await aredis.set(keys.CONFIG_EPOCH, "3-x")
    await aredis.sadd(keys.PAUSED, "mail")
    assert await membership.beat(aredis, IDENTITY, PROCESS, {}) == News("TSTP", "3-x", frozenset({"mail"}))
    assert await aredis.hget(keys.BEATS, IDENTITY) == b"2"
    assert not await aredis.exists(keys.work(IDENTITY))


async def test_one_who_was_declared_dead_never_beats_or_registers_again(aredis: redis.asyncio.Redis) -> None:
    with pytest.raises(LeaseLost):
        await membership.beat(aredis, IDENTITY, PROCESS, WORK)
    with pytest.raises(LeaseLost):
        await membership.register(aredis, IDENTITY, ME, ["mail"])
    assert await aredis.keys("*") == []


async def test_renewal_returns_what_the_child_does_not_know_of(aredis: redis.asyncio.Redis) -> None:
    """Leases newer than the last answered trip may still be on their way to it, and stay."""
    await membership.enlist(aredis, IDENTITY)
    await membership.register(aredis, IDENTITY, ME, ["mail", "slow"])
    leases: dict[Any, Any] = {"3.1": "mail|1|held", "3.2": "slow|1|forgotten", "4.1": "mail|1|under way"}
    await aredis.hset(keys.lease(ME), mapping=leases)
    renewed = await membership.renew(aredis, ME, ["mail", "slow"], answered=3, held=["3.1"])
    assert renewed == 1
    assert await aredis.lrange(keys.queue("slow"), 0, -1) == [b"forgotten"]
    assert set(await aredis.hkeys(keys.lease(ME))) == {b"3.1", b"4.1"}


async def test_renewal_of_a_fenced_child_leaves_all_to_recovery(aredis: redis.asyncio.Redis) -> None:
    await aredis.set(keys.trip(ME), "dead")
    await aredis.hset(keys.lease(ME), "1.1", "mail|1|x")
    assert await membership.renew(aredis, ME, ["mail"], answered=3, held=[]) == 0
    assert await aredis.hlen(keys.lease(ME)) == 1


async def test_inboxes_go_back_oldest_foremost(aredis: redis.asyncio.Redis) -> None:
    await aredis.lpush(keys.inbox(ME, "mail"), "first", "second")
    await aredis.lpush(keys.queue("mail"), "third")
    assert await membership.return_inboxes(aredis, ME, ["mail"]) == 2
    assert await aredis.lrange(keys.queue("mail"), 0, -1) == [b"third", b"second", b"first"]


async def test_a_lease_whose_list_refuses_it_stays(aredis: redis.asyncio.Redis) -> None:
    await membership.enlist(aredis, IDENTITY)
    await membership.register(aredis, IDENTITY, ME, ["mail"])
    await aredis.hset(keys.lease(ME), "1.1", "mail|1|forgotten")
    await aredis.set(keys.queue("mail"), "a key of another type")
    assert await membership.renew(aredis, ME, ["mail"], answered=1, held=[]) == 0
    assert await aredis.hget(keys.lease(ME), "1.1") == b"mail|1|forgotten"


@pytest.mark.parametrize("has_old_work", [False, True])
async def test_a_beat_carries_any_number_of_running_jobs(
    aredis: redis.asyncio.Redis, has_old_work: bool
) -> None:
    await membership.enlist(aredis, IDENTITY)
    work = {f"{slot:x}": "{}" for slot in range(10_001)}
    await membership.beat(aredis, IDENTITY, PROCESS, work, has_old_work=has_old_work)
    assert await aredis.hlen(keys.work(IDENTITY)) == len(work)
    assert await aredis.ttl(keys.work(IDENTITY)) == membership.PROCESS_TTL_SECONDS
    assert await aredis.hlen(keys.work_of_sidekiq_6(IDENTITY)) == (len(work) if has_old_work else 0)


async def test_who_has_no_record_any_more_is_struck_once_a_minute(aredis: redis.asyncio.Redis) -> None:
    await membership.enlist(aredis, IDENTITY)
    await membership.beat(aredis, IDENTITY, {"info": "{}"}, WORK)
    await aredis.sadd(keys.PROCESSES, "dead:1:a", "dead:2:a", "strange:1:a", b"\xff")
    await aredis.set("strange:1:a", "a key of another type")
    assert await membership.strike_dead(aredis) == 3
    assert await aredis.smembers(keys.PROCESSES) == {IDENTITY.encode(), b"strange:1:a"}
    await aredis.sadd(keys.PROCESSES, "dead:1:a")
    assert await membership.strike_dead(aredis) == 0
    assert 0 < await aredis.ttl(keys.PROCESS_CLEANUP) <= membership.CLEANUP_SECONDS
    await aredis.delete(keys.PROCESS_CLEANUP)
    assert await membership.strike_dead(aredis) == 1


async def test_what_strangers_left_does_not_end_a_beat(aredis: redis.asyncio.Redis) -> None:
    await membership.enlist(aredis, IDENTITY)
    await aredis.sadd(keys.PAUSED, b"\xff", "mail")
    await aredis.lpush(keys.signals(IDENTITY), b"\xfe")
    news = await membership.beat(aredis, IDENTITY, PROCESS, {})
    assert (news.signal, news.paused) == ("�", frozenset({"�", "mail"}))
    for key in (keys.PAUSED, keys.signals(IDENTITY), keys.PROCESSES, keys.process(IDENTITY)):
        await aredis.delete(key)
        await aredis.set(key, "a key of another type")
    await aredis.hset(keys.CONFIG_EPOCH, "a", "b")
    assert await membership.beat(aredis, IDENTITY, PROCESS, WORK) == News("", "", frozenset())
    assert await aredis.hget(keys.BEATS, IDENTITY) == b"2"
