"""An application with a periodic job, for workers under test."""

from __future__ import annotations

import os

import redis

import stanchion

app = stanchion.App()


@app.periodic("* * * * *", time_zone="Europe/Berlin", missed="all", args=[1])
@app.job(queue="mail")
def note_tick(value: int) -> None:
    """Leave a mark."""
    with redis.Redis.from_url(os.environ["STANCHION_REDIS_URL"]) as client:
        client.rpush("test:ledger", value)
