"""The application of the outcome tests: jobs that end in every way a job may end, under middleware."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable

import redis

import stanchion

STARTED, LEDGER = "test:started", "test:ledger"

app = stanchion.App()
jobs = stanchion.JobSet(queue="mail")
app.include(jobs)


def leave(key: str, mark: str) -> None:
    with redis.Redis.from_url(os.environ["STANCHION_REDIS_URL"]) as client:
        client.rpush(key, mark)


@app.middleware.client
def sign(job: stanchion.Job) -> stanchion.Job:
    return job.replace(signed_by="client middleware")


@app.middleware.server
async def check(job: stanchion.Job, call_next: Callable[[], Awaitable[None]]) -> None:
    """Jobs without a signature are none of ours."""
    if "signed_by" not in job.fields:
        raise stanchion.Kill("not signed")
    await call_next()


@jobs.job
async def end(what: str) -> None:
    """End as told."""
    match what:
        case "retry":
            raise stanchion.Retry(3600, "busy")
        case "discard":
            raise stanchion.Discard("nothing to do")
        case "kill":
            raise stanchion.Kill("no hope")


@jobs.job(expires_in=0.001)
def expire() -> None:
    leave(LEDGER, "expired job ran")


@jobs.job
def snooze_once() -> None:
    current = stanchion.current_job()
    if not current.snoozes:
        raise stanchion.Snooze(0.1)
    leave(LEDGER, f"snoozed {current.snoozes} attempt {current.attempt}")


@jobs.job(timeout_seconds=0.1, backoff=lambda count, error: 7200)
async def slow() -> None:
    await asyncio.sleep(60)


@jobs.job
async def parent() -> None:
    await child.aenqueue()


@jobs.job
def child() -> None:
    leave(LEDGER, f"trace {stanchion.current_job().traceparent}")


@jobs.job
def give_way() -> None:
    """Run until the worker stops."""
    leave(STARTED, "give_way")
    while True:
        stanchion.current_job().check_stopping()
        time.sleep(0.01)
