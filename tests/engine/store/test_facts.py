"""What one sample sees of a queue, in the records of our worker and of Sidekiq's versions."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import redis.asyncio
from redis.exceptions import RedisError

from stanchion.metrics import RUNTIME_LIMITS_MS
from stanchion.store import keys
from stanchion.store.facts import PEEKED_DUE_JOBS, sample

pytestmark = pytest.mark.redis
LEAD_SECONDS = 30


def payload(name: str = "mail", queue: str = "q", **fields: Any) -> bytes:
    return json.dumps({"class": name, "jid": "0" * 24, "queue": queue, "args": [], **fields}).encode()


async def beat(client: redis.asyncio.Redis, identity: str, queues: list[str], **record: Any) -> None:
    info = {"hostname": identity.split(":")[0], "pid": 7, "queues": queues, "concurrency": 4}
    fields: dict[Any, Any] = {
        "info": json.dumps(info),
        "busy": 0,
        "beat": time.time(),
        "quiet": "false",
        **record,
    }
    await client.sadd(keys.PROCESSES, identity)
    await client.hset(keys.process(identity), mapping=fields)


async def works(client: redis.asyncio.Redis, identity: str, slot: str, job: Any, queue: str = "q") -> None:
    entry = {"queue": queue, "payload": job, "run_at": int(time.time())}
    await client.hset(keys.work(identity), slot, json.dumps(entry))


async def test_an_untouched_queue_is_idle(aredis: redis.asyncio.Redis) -> None:
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert facts.idle
    assert (facts.waiting, facts.oldest_age_seconds, facts.service_hint_seconds) == (0, 0, None)
    assert abs(facts.at_seconds - time.time()) < 5


@pytest.mark.parametrize("in_milliseconds", [False, True], ids=["float seconds", "integer milliseconds"])
async def test_age_is_that_of_the_head_in_both_dialects(
    aredis: redis.asyncio.Redis, in_milliseconds: bool
) -> None:
    old, new = time.time() - 100, time.time()
    stamps: list[float] = [old, new]
    if in_milliseconds:
        stamps = [int(stamp * 1000) for stamp in stamps]
    for stamp in stamps:
        await aredis.lpush(keys.queue("q"), payload(enqueued_at=stamp, created_at=1.0))
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert facts.waiting == 2
    assert 99 < facts.oldest_age_seconds < 110


@pytest.mark.parametrize("head", [payload(enqueued_at=time.time() + 3600), payload(), b"no json"])
async def test_a_head_from_the_future_or_without_a_time_has_age_zero(
    aredis: redis.asyncio.Redis, head: bytes
) -> None:
    await aredis.lpush(keys.queue("q"), head)
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert (facts.waiting, facts.oldest_age_seconds) == (1, 0)


async def test_counters(aredis: redis.asyncio.Redis) -> None:
    counts: dict[Any, Any] = {"enq": 9, "eligible_enq": 8, "done": 7, "failed": 2, "busy_ms": 1234}
    await aredis.hset(keys.counters("q"), mapping=counts)
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert [facts.enqueued, facts.eligible, facts.done, facts.failed, facts.busy_ms] == [9, 8, 7, 2, 1234]


@pytest.mark.parametrize("way", ["at run time", "by policy"])
async def test_a_paused_queue_shows_no_eligible_work(aredis: redis.asyncio.Redis, way: str) -> None:
    await aredis.lpush(keys.queue("q"), payload(enqueued_at=time.time() - 50))
    if way == "by policy":
        await aredis.hset(keys.config("queue", "q"), "paused", "true")
    else:
        await aredis.sadd(keys.PAUSED, "q")
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert (facts.paused, facts.waiting, facts.oldest_age_seconds) == (True, 0, 0)


async def test_due_work_counts_for_its_own_queue_within_the_lead_time(aredis: redis.asyncio.Redis) -> None:
    now = time.time()
    for jid, queue, at in [("a", "q", now - 5), ("b", "q", now + 20), ("c", "q", now + 90), ("d", "x", now)]:
        await aredis.zadd(keys.SCHEDULE, {payload(queue=queue, jid=jid): at})
    await aredis.zadd(keys.RETRY, {payload(jid="e"): now + 10, b"no json": now})
    assert (await sample(aredis, "q", lead_seconds=LEAD_SECONDS)).due_soon == 3


async def test_a_flood_of_due_work_is_peeked_into_and_shared_out(aredis: redis.asyncio.Redis) -> None:
    flood = {payload(queue="qx"[n % 2], jid=str(n)): n + 1 for n in range(4 * PEEKED_DUE_JOBS)}
    await aredis.zadd(keys.SCHEDULE, flood)
    assert (await sample(aredis, "q", lead_seconds=LEAD_SECONDS)).due_soon == 2 * PEEKED_DUE_JOBS


async def test_processes_and_running_jobs_of_this_queue_only(aredis: redis.asyncio.Redis) -> None:
    await beat(aredis, "one:7:a", ["q", "x"], busy=3, concurrency=10)
    await beat(aredis, "two:7:b", ["q"], busy=1, quiet="true")
    await beat(aredis, "three:7:c", ["x"], busy=1)
    await aredis.sadd(keys.PROCESSES, "expired:7:d")
    await works(aredis, "one:7:a", "1", payload("mail").decode())
    await works(aredis, "one:7:a", "2", json.loads(payload("report")))
    await works(aredis, "one:7:a", "3", payload("mail").decode(), queue="x")
    await works(aredis, "two:7:b", "1", payload("Wrapper", wrapped="mail").decode())
    await works(aredis, "three:7:c", "1", payload("mail").decode())
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert facts.busy == 3
    assert facts.running == {"mail": 2, "report": 1}
    seen = [(p.identity, p.hostname, p.concurrency, p.busy, p.quiet, p.queues) for p in facts.processes]
    assert seen == [
        ("one:7:a", "one", 10, 3, False, ("q", "x")),
        ("two:7:b", "two", 4, 1, True, ("q",)),
    ]


@pytest.mark.parametrize("info", [b"no json", b"[]", b"{}", b'{"hostname": "h", "pid": "x"}', b"[" * 100_000])
async def test_a_process_record_that_cannot_be_read_is_left_out(
    aredis: redis.asyncio.Redis, info: bytes
) -> None:
    await beat(aredis, "good:7:a", ["q"])
    await beat(aredis, "bad:7:b", ["q"], info=info)
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert [process.identity for process in facts.processes] == ["good:7:a"]


async def test_run_times_come_from_the_histograms(aredis: redis.asyncio.Redis) -> None:
    await aredis.lpush(keys.queue("q"), payload("mail", enqueued_at=time.time()))
    await aredis.hset(keys.runtime("mail"), mapping={"n": 20, "ms": 5000, "b0": 10, "b7": 9, "b25": 1})
    await aredis.hset(keys.runtime("report"), mapping={"n": 1, "ms": 90_000, "b25": 1})
    await beat(aredis, "one:7:a", ["q"], busy=3)
    for slot, name in enumerate(["mail", "report", "new"]):
        await works(aredis, "one:7:a", str(slot), payload(name).decode())
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert facts.service_hint_seconds == 0.25
    longest = 2 * RUNTIME_LIMITS_MS[-1] / 1000
    assert facts.runtime_p95_seconds == {"mail": RUNTIME_LIMITS_MS[7] / 1000, "report": longest}


@pytest.mark.parametrize("value", ["many", "1.5", "", "9" * 5000, b"\xff"])
async def test_a_counter_that_is_no_number_counts_nothing_and_breaks_nothing(
    aredis: redis.asyncio.Redis, value: str | bytes
) -> None:
    await aredis.lpush(keys.queue("q"), payload("mail", enqueued_at=time.time()))
    await aredis.hset(keys.counters("q"), mapping={"enq": 3, "done": value, "busy_ms": value})
    await aredis.hset(keys.runtime("mail"), mapping={"n": value, "ms": 10, "b0": value})
    await works(aredis, "one:7:a", "0", payload("mail").decode())
    await beat(aredis, "one:7:a", ["q"])
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert (facts.waiting, facts.enqueued, facts.done, facts.busy_ms, facts.busy) == (1, 3, 0, 0, 1)
    assert (facts.service_hint_seconds, facts.runtime_p95_seconds) == (None, {})


async def test_records_of_another_type_or_name_are_left_out(aredis: redis.asyncio.Redis) -> None:
    await aredis.lpush(keys.queue("q"), payload("mail", enqueued_at=time.time()))
    await aredis.set(keys.runtime("mail"), "oops")
    await aredis.sadd(keys.PROCESSES, "broken:7:b", b"\xff:7:c")
    await aredis.set(keys.process("broken:7:b"), "oops")
    await beat(aredis, "good:7:a", ["q"])
    await aredis.set(keys.work("good:7:a"), "oops")
    facts = await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
    assert [process.identity for process in facts.processes] == ["good:7:a"]
    assert (facts.waiting, facts.busy, facts.service_hint_seconds) == (1, 0, None)


async def test_a_key_of_the_wrong_type_is_an_error_and_no_zero(aredis: redis.asyncio.Redis) -> None:
    await aredis.set(keys.queue("q"), "oops")
    with pytest.raises(RedisError, match="WRONGTYPE"):
        await sample(aredis, "q", lead_seconds=LEAD_SECONDS)
