"""Due jobs: peek at what `schedule` and `retry` hold, and make due members ready.

Called by the scheduler, by whichever process leads. Promotion names the exact bytes it saw, so two
promoters, or a Ruby poller beside us, never move a job twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis.asyncio

from stanchion.store import keys
from stanchion.store.script import Argument, Key, Script

SETS = (keys.RETRY, keys.SCHEDULE)
PROMOTE = Script("promote")


@dataclass(frozen=True, slots=True)
class Promotion:
    """One due member and what it becomes: a payload for a queue, or, without one, an entry of `dead`."""

    member: bytes
    queue: str = ""
    payload: bytes = b""


async def due(client: redis.asyncio.Redis, set_key: str, now: float, limit: int) -> list[tuple[bytes, float]]:
    """Members whose time has come, earliest first, with their times (epoch seconds)."""
    found: Any = await client.zrangebyscore(set_key, "-inf", now, start=0, num=limit, withscores=True)
    return [(member, score) for member, score in found]


async def firsts(client: redis.asyncio.Redis) -> dict[str, float | None]:
    """When the first member of each set is due, epoch seconds; a set with a key of another type in its place
    is not among them.
    """
    async with client.pipeline(transaction=False) as pipeline:
        for set_key in SETS:
            pipeline.zrange(set_key, 0, 0, withscores=True)
        replies = await pipeline.execute(raise_on_error=False)
    found: dict[str, float | None] = {}
    for set_key, reply in zip(SETS, replies, strict=True):
        if not isinstance(reply, Exception):
            found[set_key] = reply[0][1] if reply else None
        elif "WRONGTYPE" not in str(reply):
            raise reply
    return found


async def promote(
    client: redis.asyncio.Redis, set_key: str, promotions: Sequence[Promotion], now: float
) -> int:
    """Move due members, each wholly or not at all. Returns how many this call moved."""
    names: list[Key] = [set_key, keys.QUEUES, keys.DEAD]
    args: list[Argument] = [repr(now)]
    for one in promotions:
        names += (keys.queue(one.queue), keys.counters(one.queue)) if one.payload else (keys.DEAD, keys.DEAD)
        args += (one.member, one.payload, one.queue)
    moved: int = await PROMOTE.arun(client, names, args)
    return moved
