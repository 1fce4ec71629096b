"""What a queue leaves in Redis, asked and removed when its policy is deleted for good."""

from __future__ import annotations

from functools import partial
from typing import Any

import redis.asyncio
from redis.exceptions import WatchError

from stanchion.errors import MalformedPayload
from stanchion.job import Job
from stanchion.store import facts, keys
from stanchion_operator.decide.deletion import Remains
from stanchion_operator.redis_config.server import Server

SCAN_COUNT = 200
"""Members read at a time: deleting a queue must not hold Redis up."""


async def remains(server: Server, queue: str) -> Remains:
    """Count the jobs of a queue; delayed ones are looked for only where no other holds the deletion up.

    Those lie among every queue's, so the search may be long. Each page is a question with a time limit of
    its own: under one for the whole, a long schedule would look like a Redis that is away.
    """
    sample = await server.ask(lambda client: facts.sample(client, queue, lead_seconds=0))
    waiting = await server.ask(lambda client: client.llen(keys.queue(queue)))
    delayed = not (waiting or sample.busy) and (
        await _any_of_queue(server, keys.SCHEDULE, queue) or await _any_of_queue(server, keys.RETRY, queue)
    )
    return Remains(waiting=waiting, delayed=delayed, running=sample.busy)


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


async def _any_of_queue(server: Server, key: str, queue: str) -> bool:
    cursor = 0
    while True:
        cursor, members = await server.ask(partial(_page, key=key, cursor=cursor))
        if any(_names(member, queue) for member in members):
            return True
        if cursor == 0:
            return False


async def _page(client: redis.asyncio.Redis, *, key: str, cursor: int) -> tuple[int, list[Any]]:
    following, scored = await client.zscan(key, cursor, count=SCAN_COUNT)
    return following, [member for member, _ in scored]


def _names(member: bytes, queue: str) -> bool:
    try:
        return Job.parse(member).queue == queue
    except MalformedPayload:
        return False  # a stranger's bytes name no queue
