"""The Python half of the tests' jobs, under the names that sidekiq/jobs.rb gives the Ruby half."""

from __future__ import annotations

import json
import os
from typing import Any

import redis
import redis.asyncio

import stanchion

LEDGER, STARTED, RELEASE = "test:ledger", "test:started", "test:release"

app = stanchion.App()
jobs = stanchion.JobSet(queue="mail")
app.include(jobs)


def _mark(key: str, value: Any) -> None:
    with redis.Redis.from_url(os.environ["STANCHION_REDIS_URL"]) as client:
        client.rpush(key, json.dumps(value))


@jobs.job(name="Note")
def note(*args: Any) -> None:
    """Leave its arguments."""
    _mark(LEDGER, ["python", *args])


@jobs.job(name="Hold")
async def hold(value: int) -> None:
    """Say that it runs, and wait for a word."""
    url = os.environ["STANCHION_REDIS_URL"]
    async with redis.asyncio.Redis.from_url(url, socket_timeout=None) as client:
        await client.rpush(STARTED, value)
        await client.blpop([RELEASE])
    _mark(LEDGER, ["python", value])


@jobs.job(name="FailsInRuby")
def fails_in_ruby(value: str) -> None:
    """Fail in Ruby, succeed in Python."""
    _mark(LEDGER, ["python", value])


@jobs.job(name="FailsInPython")
def fails_in_python(value: str) -> None:
    """Fail in Python, succeed in Ruby."""
    raise ValueError(f"Python cannot {value} ☃")
