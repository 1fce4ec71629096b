"""The jobs of a small shop. `shop.jobs:app` is what workers and manifests name."""

from __future__ import annotations

import asyncio
import time

import stanchion

app = stanchion.App()  # STANCHION_REDIS_URL, else a Redis on this machine

catalog = stanchion.JobSet(prefix="catalog.", queue="imports")


@catalog.job(retries=5)
async def import_catalog(account: int, *, rows: list[int]) -> None:
    """Import one supplier's rows; waiting on the database is what takes the time."""
    await asyncio.sleep(0.05)
    print(f"account {account}: imported {len(rows)} rows")


@app.job(queue="mail")
def send_welcome(user: int) -> None:
    """Send one mail. A plain function runs in a thread."""
    time.sleep(0.02)
    print(f"user {user}: welcome sent")


app.include(catalog)
