"""The client's chain: what it adds travels, what it may not change is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
import redis

from stanchion.app import App
from stanchion.errors import StanchionError
from stanchion.job import Job
from stanchion.middleware import apply

JOB = Job({"class": "a", "jid": "a1", "queue": "q", "args": []})


def trace(job: Job) -> Job:
    return job.replace(traceparent="00-1")


def rename(job: Job) -> Job:
    return job.replace(queue="elsewhere")


def test_the_chain_runs_in_order() -> None:
    ran = []

    def note(job: Job) -> Job:
        ran.append(job.fields.get("traceparent"))
        return job

    assert apply([note, trace, note], JOB).fields["traceparent"] == "00-1"
    assert ran == [None, "00-1"]


def test_what_the_caller_was_told_may_not_change() -> None:
    with pytest.raises(StanchionError, match="the client middleware rename changed 'queue' of job a"):
        apply([rename], JOB)


def test_one_that_forgets_to_return_the_job_is_named() -> None:
    def forgets(job: Job) -> Any:
        job.replace(traceparent="00-1")

    with pytest.raises(StanchionError, match="the client middleware forgets returned None"):
        apply([forgets], JOB)


@pytest.mark.redis
async def test_what_a_middleware_adds_is_in_the_payload(redis_url: str, redis_client: redis.Redis) -> None:
    app = App(redis_url)
    app.middleware.client(trace)
    await app.aenqueue("a")
    await app.aenqueue_many([app.call("a")])
    payloads = [json.loads(raw) for raw in redis_client.lrange("queue:default", 0, -1)]
    assert [payload["traceparent"] for payload in payloads] == ["00-1", "00-1"]
    await app.aclose()
