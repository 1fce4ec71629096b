"""What a queue leaves in Redis, asked and removed when its policy is deleted for good."""

from __future__ import annotations

import redis.asyncio
from redis.exceptions import WatchError

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


async def delete(client: redis.asyncio.Redis, queue: str, *, with_jobs: bool) -> bool:
    """Remove the queue's name and counters, and its list only `with_jobs`.

    False, with nothing removed, if jobs are there that were not to go: one pushed since the last count must
    not vanish with the list. WATCH holds the count and the removal together.
    """
    async with client.pipeline(transaction=True) as pipeline:
        await pipeline.watch(keys.queue(queue))
        if not with_jobs and await pipeline.llen(keys.queue(queue)):
            return False
        pipeline.multi()  # type: ignore[no-untyped-call]  # redis-py has no hints here
        pipeline.unlink(keys.counters(queue), *([keys.queue(queue)] if with_jobs else []))
        pipeline.srem(keys.QUEUES, queue)
        try:
            await pipeline.execute()
        except WatchError:
            return False
    return True


async def _any_of_queue(client: redis.asyncio.Redis, key: str, queue: str) -> bool:
    async for member, _ in client.zscan_iter(key, count=SCAN_COUNT):
        try:
            if Job.parse(member).queue == queue:
                return True
        except MalformedPayload:
            continue  # a stranger's bytes name no queue
    return False
