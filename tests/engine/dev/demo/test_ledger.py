"""The ledger counts jobs, not runs; the meter adds up the time a promise is broken."""

from __future__ import annotations

import time
from typing import Any

import pytest
import redis.asyncio

from stanchion.dev.demo import ledger
from stanchion.dev.demo.ledger import Count
from stanchion.dev.demo.load import Load
from stanchion.dev.demo.side import Side
from stanchion.dev.fleet import Fleet, WorkerCommand
from stanchion.dev.leash import Leash
from stanchion.job import Job
from stanchion.store import keys

pytestmark = pytest.mark.redis


async def test_a_job_that_ran_twice_is_one_job_and_one_duplicate(aredis: redis.asyncio.Redis) -> None:
    await ledger.record_push(aredis, "q", ["a", "b", "c"])
    for jid in ("a", "a", "b"):
        await ledger.record_run(aredis, "q", jid)
    count = await ledger.count(aredis, "q")
    assert (count, count.missing) == (Count(pushed=3, ran=2, duplicates=1), 1)


async def test_both_queues_get_the_same_jobs(aredis: redis.asyncio.Redis, redis_url: str) -> None:
    await Load(aredis, redis_url).push(7, 0.5)
    for queue in ("gated", "plain"):
        payloads: list[Any] = await aredis.lrange(keys.queue(queue), 0, -1)
        jobs = [Job.parse(payload) for payload in payloads]
        assert {job.jid.encode() for job in jobs} == await aredis.smembers(keys.demo_pushed(queue))
        assert [(job.name, job.args, job.queue) for job in jobs] == [("demo.work", [0.5], queue)] * 7
        assert all(abs(time.time() - (job.enqueued_at_seconds or 0)) < 10 for job in jobs)


async def test_lateness_is_the_time_between_readings_that_find_the_promise_broken(
    aredis: redis.asyncio.Redis,
) -> None:
    leash = Leash()
    fleet = Fleet("q", WorkerCommand(("true",)), leash, lambda worker, line: None)
    side = Side("q", "note", fleet, target_seconds=15, slots=10)
    old = Job.create("j", [], queue="q", jid="x", retry=True, now=1.0).replace(enqueued_at=time.time() - 60)
    await aredis.lpush(keys.queue("q"), old.dump())
    began = time.monotonic()
    assert (await side.measure(aredis)).late_seconds == 0
    late = (await side.measure(aredis)).late_seconds
    assert 0 < late <= time.monotonic() - began
    await aredis.delete(keys.queue("q"))
    assert (await side.measure(aredis)).late_seconds == late
    leash.close()
