"""The jobs of the kill loop: each leaves a mark, with the process that ran it, in a Redis nobody cuts off."""

from __future__ import annotations

import asyncio
import os
from functools import cache

import redis.asyncio

import stanchion

MARKS = "test:marks"
RUN_SECONDS = 0.02
FAILS_EACH = 20

app = stanchion.App()


@cache
def ledger() -> redis.asyncio.Redis:
    return redis.asyncio.Redis.from_url(os.environ["TEST_LEDGER_URL"])


@app.job(queue="mail")
async def mark(number: int) -> None:
    """Work for a while, leave the mark; some fail the first time."""
    job = stanchion.current_job()
    await asyncio.sleep(RUN_SECONDS)
    if number % FAILS_EACH == 0 and job.attempt == 1:
        raise stanchion.Retry(in_seconds=1)
    await ledger().rpush(MARKS, f"{job.jid} {os.getpid()}")
