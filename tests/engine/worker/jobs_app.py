"""The application of the tests' workers: jobs that say what they do in Redis, wait, or misbehave."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import redis
import redis.asyncio

import stanchion

STARTED, LEDGER, RELEASE = "test:started", "test:ledger", "test:release"

app = stanchion.App()
jobs = stanchion.JobSet(queue="mail")
app.include(jobs)


def _redis() -> redis.Redis:
    return redis.Redis.from_url(os.environ["STANCHION_REDIS_URL"], socket_timeout=None)


@jobs.job()
def note(value: int) -> None:
    """Leave a mark."""
    with _redis() as client:
        client.rpush(LEDGER, value)


@jobs.job()
async def hold(value: int) -> None:
    """Say that it runs, wait for a word, leave a mark."""
    async with redis.asyncio.Redis.from_url(os.environ["STANCHION_REDIS_URL"], socket_timeout=None) as client:
        await client.rpush(STARTED, value)
        await client.blpop([RELEASE])
        await client.rpush(LEDGER, value)


@jobs.job()
def hold_in_thread(value: int) -> None:
    """As `hold`, in a thread."""
    with _redis() as client:
        client.rpush(STARTED, value)
        client.blpop([RELEASE])
        client.rpush(LEDGER, value)


@jobs.job()
def hold_until_stopping(value: int) -> None:
    """Run until the worker drains, then end in time."""
    with _redis() as client:
        client.rpush(STARTED, value)
        while not stanchion.current_job().stopping:
            time.sleep(0.01)  # a thread learns of the stop only by asking
        client.rpush(LEDGER, value)


@jobs.job()
async def hog(value: int) -> None:
    """Stop the child's event loop for good: only another process can help."""
    with _redis() as client:
        client.rpush(STARTED, value)
    time.sleep(3600)  # noqa: ASYNC251 - what it is for


@jobs.job(retries=3)
def fail(message: str) -> None:
    """Fail."""
    raise RuntimeError(message)


@jobs.job()
async def cancel_itself() -> None:
    """Raise what the loop uses to cancel."""
    raise asyncio.CancelledError


@jobs.job()
def die(value: int) -> None:
    """Take the whole child process along."""
    with _redis() as client:
        client.rpush(STARTED, value)
    os.kill(os.getpid(), signal.SIGKILL)
