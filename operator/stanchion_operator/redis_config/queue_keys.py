"""What a queue leaves in Redis, asked and removed when its policy is deleted for good."""

from __future__ import annotations

import redis.asyncio

from stanchion.errors import MalformedPayload
from stanchion.job import Job
from stanchion.store import facts, keys
from stanchion_operator.decide.deletion import Remains

SCAN_COUNT = 200
"""Members read at a time: deleting a queue must not hold Redis up."""


async def remains(client: redis.asyncio.Redis, queue: str) -> Remains:
    """Count the jobs of a queue, wherever they are."""
    sample = await facts.sample(client, queue, lead_seconds=0)
    return Remains(
        waiting=int(await client.llen(keys.queue(queue))),
        delayed=await _any_of_queue(client, keys.SCHEDULE, queue)
        or await _any_of_queue(client, keys.RETRY, queue),
        running=sample.busy,
    )


async def delete(client: redis.asyncio.Redis, queue: str) -> None:
    """Remove the queue's list, name and counters. An empty list is no key, so nothing races a push."""
    async with client.pipeline(transaction=True) as pipeline:
        pipeline.unlink(keys.queue(queue), keys.counters(queue))
        pipeline.srem(keys.QUEUES, queue)
        await pipeline.execute()


async def _any_of_queue(client: redis.asyncio.Redis, key: str, queue: str) -> bool:
    async for member, _ in client.zscan_iter(key, count=SCAN_COUNT):
        try:
            if Job.parse(member).queue == queue:
                return True
        except MalformedPayload:
            continue  # a stranger's bytes name no queue
    return False
