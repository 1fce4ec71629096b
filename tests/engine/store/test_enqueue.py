"""enqueue.lua: recorded once per call, checked before written, and refused whole where it must be."""

from __future__ import annotations

from dataclasses import replace

import pytest
import redis
import redis.asyncio
from redis.exceptions import OutOfMemoryError, ResponseError

from rig.redis_versions import every_redis
from stanchion.store import keys
from stanchion.store.enqueue import (
    LANE_SECONDS,
    EnqueueItem,
    EnqueueRequest,
    LaneTaken,
    Reconfig,
    Recorded,
    aenqueue,
    enqueue,
)

pytestmark = [pytest.mark.redis, every_redis]

FULL_BYTES = 1


def item(
    jid: str = "a1", *, due_at: float | None = None, is_remembered: bool = False, queue: str = "mail"
) -> EnqueueItem:
    return EnqueueItem(jid, f"payload of {jid}".encode(), queue, due_at, is_remembered)


def request(*items: EnqueueItem, number: int = 1, epoch: str = "", lane: str = "lane") -> EnqueueRequest:
    return EnqueueRequest(lane, number, epoch, items or (item(),), jid_memory_seconds=60)


def everything(client: redis.Redis) -> dict[bytes | str, bytes]:
    """All keys with their serialized values: equal means that nothing was written."""
    return {key: client.dump(key) or b"" for key in sorted(client.keys())}


def test_a_ready_job_is_in_its_list_and_counted(redis_client: redis.Redis) -> None:
    assert enqueue(redis_client, request()) == Recorded(("enqueued",))
    assert redis_client.lrange("queue:mail", 0, -1) == [b"payload of a1"]
    assert redis_client.smembers(keys.QUEUES) == {b"mail"}
    assert redis_client.hgetall(keys.counters("mail")) == {b"enq": b"1", b"eligible_enq": b"1"}
    assert 0 < redis_client.ttl(keys.lane("lane")) <= LANE_SECONDS
    assert redis_client.dbsize() == 4


def test_a_scheduled_job_is_in_the_schedule_and_not_yet_eligible(redis_client: redis.Redis) -> None:
    due_at = 1796072997.428673
    assert enqueue(redis_client, request(item(due_at=due_at))) == Recorded(("scheduled",))
    assert redis_client.zrange(keys.SCHEDULE, 0, -1, withscores=True) == [(b"payload of a1", due_at)]
    assert redis_client.hgetall(keys.counters("mail")) == {b"enq": b"1"}
    assert not redis_client.exists("queue:mail", keys.QUEUES)


def test_a_payload_is_never_touched(redis_client: redis.Redis) -> None:
    payload = b'{"a":[],"n":12345678901234567890,"t":"\\u0000\xff"}'
    enqueue(redis_client, request(replace(item(), payload=payload)))
    assert redis_client.lindex("queue:mail", 0) == payload


def test_jobs_of_one_call_keep_their_order(redis_client: redis.Redis) -> None:
    reply = enqueue(redis_client, request(*[item(str(n)) for n in range(200)]))
    assert reply == Recorded(("enqueued",) * 200)
    taken = [redis_client.rpop("queue:mail") for _ in range(200)]
    assert taken == [f"payload of {n}".encode() for n in range(200)]
    assert redis_client.hget(keys.counters("mail"), "eligible_enq") == b"200"


def test_a_repeated_number_gets_the_stored_answers_and_writes_nothing(redis_client: redis.Redis) -> None:
    mixed = request(item("a1"), item("a2", due_at=9e9), item("a3", is_remembered=True))
    first = enqueue(redis_client, mixed)
    before = everything(redis_client)
    assert enqueue(redis_client, mixed) == first == Recorded(("enqueued", "scheduled", "enqueued"))
    assert everything(redis_client) == before


def test_a_number_used_for_another_job_is_a_taken_lane(redis_client: redis.Redis) -> None:
    enqueue(redis_client, request(item("a1"), number=2))
    before = everything(redis_client)
    assert enqueue(redis_client, request(item("b1"), number=2)) == LaneTaken()
    assert enqueue(redis_client, request(item("b1"), number=1)) == LaneTaken()
    assert everything(redis_client) == before
    assert enqueue(redis_client, request(item("b1"), number=3)) == Recorded(("enqueued",))


def test_a_damaged_lane_is_taken_and_not_an_error(redis_client: redis.Redis) -> None:
    redis_client.set(keys.lane("lane"), "no record")
    assert enqueue(redis_client, request()) == LaneTaken()


def test_another_epoch_is_answered_before_anything_is_written(redis_client: redis.Redis) -> None:
    redis_client.set(keys.CONFIG_EPOCH, "7-x")
    before = everything(redis_client)
    assert enqueue(redis_client, request(epoch="6-x")) == Reconfig()
    assert everything(redis_client) == before
    # The same number is good for the next asking.
    assert enqueue(redis_client, request(epoch="7-x")) == Recorded(("enqueued",))
    # A repeat is answered whatever the epoch has become.
    redis_client.set(keys.CONFIG_EPOCH, "8-x")
    assert enqueue(redis_client, request(epoch="7-x")) == Recorded(("enqueued",))


def test_a_callers_jid_is_remembered_for_the_stated_time(redis_client: redis.Redis) -> None:
    stated = item("order-7", is_remembered=True)
    enqueue(redis_client, request(stated, number=1))
    assert 0 < redis_client.ttl(keys.remembered_jid("order-7")) <= 60
    before = redis_client.llen("queue:mail")
    assert enqueue(redis_client, request(stated, lane="another")) == Recorded(("known:enqueued",))
    assert redis_client.llen("queue:mail") == before == 1
    assert redis_client.hget(keys.counters("mail"), "enq") == b"1"


def test_a_jid_twice_in_one_call_is_pushed_once(redis_client: redis.Redis) -> None:
    stated = item("order-7", is_remembered=True)
    assert enqueue(redis_client, request(stated, stated)) == Recorded(("enqueued", "known:enqueued"))
    assert redis_client.llen("queue:mail") == 1


def test_a_list_of_a_wrong_type_refuses_the_call_and_changes_nothing(redis_client: redis.Redis) -> None:
    redis_client.set("queue:mail", "no list")
    before = everything(redis_client)
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        enqueue(redis_client, request())
    assert everything(redis_client) == before


def test_a_job_redis_refuses_does_not_take_the_others_of_its_call_along(redis_client: redis.Redis) -> None:
    redis_client.set("queue:broken", "no list")
    reply = enqueue(redis_client, request(item("a1"), item("b1", queue="broken"), item("a2")))
    assert isinstance(reply, Recorded)
    first, second, third = reply.answers
    assert (first, third) == ("enqueued", "enqueued")
    assert second.startswith("failed:WRONGTYPE")
    assert redis_client.llen("queue:mail") == 2
    assert not redis_client.exists(keys.counters("broken"))


def test_a_counter_of_a_wrong_type_does_not_deny_a_job_that_is_in(redis_client: redis.Redis) -> None:
    redis_client.set(keys.counters("mail"), "no hash")
    redis_client.set(keys.QUEUES, "no set")
    assert enqueue(redis_client, request()) == Recorded(("enqueued",))
    assert enqueue(redis_client, request()) == Recorded(("enqueued",))
    assert redis_client.llen("queue:mail") == 1


def test_a_full_redis_refuses_the_call_whole(redis_client: redis.Redis) -> None:
    enqueue(redis_client, request(number=1))
    before = everything(redis_client)
    redis_client.config_set("maxmemory", FULL_BYTES)
    try:
        with pytest.raises(OutOfMemoryError):
            enqueue(redis_client, request(item("a2"), item("a3"), number=2))
    finally:
        redis_client.config_set("maxmemory", 0)
    assert everything(redis_client) == before


async def test_the_asyncio_call_is_the_same(aredis: redis.asyncio.Redis) -> None:
    assert await aenqueue(aredis, request()) == Recorded(("enqueued",))
    await aredis.script_flush()
    assert await aenqueue(aredis, request(item("a2"), number=2)) == Recorded(("enqueued",))
    assert await aredis.llen("queue:mail") == 2
