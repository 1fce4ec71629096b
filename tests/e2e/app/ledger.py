"""The application of the end-to-end test: jobs of 50 ms that each write down, in Redis, that they ran.

In the workers it is `ledger:app`; as a program it pushes: `python -m ledger 6000`.
"""

from __future__ import annotations

import asyncio
import functools
import sys

import redis.asyncio

import stanchion

JOB_SECONDS = 0.05
STARTED = "ledger:started"
"""HASH jid -> how often that job was started."""

app = stanchion.App()


@functools.cache
def ledger() -> redis.asyncio.Redis:
    """One client for the worker's one event loop."""
    return redis.asyncio.Redis.from_url(app.settings.redis_url)


@app.job(name="ledger.entry", queue="ledger")
async def entry() -> None:
    """Written down at the start, so that a job which is killed and runs again counts twice."""
    await ledger().hincrby(STARTED, stanchion.current_job().jid, 1)
    await asyncio.sleep(JOB_SECONDS)


if __name__ == "__main__":
    verdicts = app.enqueue_many(entry.call() for _ in range(int(sys.argv[1])))
    print(sum(verdict.accepted for verdict in verdicts))
