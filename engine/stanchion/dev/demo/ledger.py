"""The ledger both queues are judged by: which jobs were pushed, and how often each ran to its end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import redis.asyncio

from stanchion.store import keys


@dataclass(frozen=True, slots=True)
class Count:
    """One queue's totals. A job that ran twice is one that ran and one duplicate."""

    pushed: int
    ran: int
    duplicates: int

    @property
    def missing(self) -> int:
        """Pushed and not run to its end: waiting, running – or lost, once nothing waits or runs."""
        return self.pushed - self.ran


async def record_push(client: redis.asyncio.Redis, queue: str, jids: Iterable[str]) -> None:
    """Enter jobs that the queue has accepted."""
    await client.sadd(keys.demo_pushed(queue), *jids)


async def record_run(client: redis.asyncio.Redis, queue: str, jid: str) -> None:
    """Enter a job at the end of its run; called by the job."""
    await client.hincrby(keys.demo_ran(queue), jid, 1)


async def count(client: redis.asyncio.Redis, queue: str) -> Count:
    """The totals now."""
    async with client.pipeline(transaction=True) as pipeline:
        pipeline.scard(keys.demo_pushed(queue))
        pipeline.hvals(keys.demo_ran(queue))
        pushed, runs = await pipeline.execute()
    return Count(pushed, len(runs), sum(map(int, runs)) - len(runs))
