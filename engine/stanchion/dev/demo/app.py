"""The application of the demo: one job that takes a while and then enters itself in the ledger.

Imported by the gated queue's workers, exactly as they would import yours.
"""

from __future__ import annotations

import asyncio
from functools import cache

import redis.asyncio

import stanchion
from stanchion.dev.demo import ledger
from stanchion.store import connection

GATED, PLAIN = "gated", "plain"
JOB_NAME = "demo.work"

app = stanchion.App()


@app.job(name=JOB_NAME, queue=GATED)
async def work(seconds: float) -> None:
    """Wait as a job would for a database, then be counted."""
    await asyncio.sleep(seconds)
    await ledger.record_run(_client(), GATED, stanchion.current_job().jid)


@cache
def _client() -> redis.asyncio.Redis:
    return connection.connect_async(app.settings.redis_url, name="stanchion-demo-job")
