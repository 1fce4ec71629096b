"""The short lease of the one process that leads, on any duty that one of all is enough for.

Called by the worker's Lead. It saves work and proves nothing: whoever leads still acts by scripts that two
leaders cannot both win.
"""

from __future__ import annotations

import redis.asyncio

from stanchion.store.script import Script

LEAD, RESIGN = Script("lead"), Script("resign")


async def lead(client: redis.asyncio.Redis, lease_key: str, identity: str, ttl_seconds: float) -> float:
    """Take or keep the lease. Returns 0.0 when it is ours, else for how many seconds it is another's."""
    left: int = await LEAD.arun(client, [lease_key], [identity, int(ttl_seconds * 1000)])
    return left / 1000


async def resign(client: redis.asyncio.Redis, lease_key: str, identity: str) -> None:
    """Give it up, if it is ours."""
    await RESIGN.arun(client, [lease_key], [identity])
