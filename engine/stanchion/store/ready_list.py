"""The list of a queue's ready jobs: read from its head, and one job taken out by its exact bytes.

Called by `stanchion job`. Workers take from the same end meanwhile, so what is read is a picture, no promise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import redis

from stanchion.store import keys

PER_CALL = 1000


def walk(client: redis.Redis, queue: str) -> Iterator[bytes]:
    """The payloads, the next to run first."""
    for start in range(0, length(client, queue), PER_CALL):
        page: Any = client.lrange(keys.queue(queue), -start - PER_CALL, -start - 1)
        yield from reversed(page)


def length(client: redis.Redis, queue: str) -> int:
    """How many jobs are ready."""
    found: Any = client.llen(keys.queue(queue))
    return int(found)


def remove(client: redis.Redis, queue: str, payload: bytes) -> int:
    """Take out every copy of these bytes; returns how many there were.

    Redis walks the list for it, some 10 ms for 100,000 jobs: this is for single jobs.
    """
    found: Any = client.lrem(keys.queue(queue), 0, payload)  # type: ignore[arg-type]  # bytes do as well
    return int(found)
