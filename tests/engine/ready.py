"""What tests read of a ready list."""

from __future__ import annotations

import json

import redis

from stanchion.store import keys


def jids(client: redis.Redis, queue: str = "default") -> list[str]:
    """The job ids in a list, oldest first."""
    return [json.loads(raw)["jid"] for raw in reversed(client.lrange(keys.queue(queue), 0, -1))]


def enqueued(client: redis.Redis, queue: str = "default") -> int:
    """How many jobs the queue's counter says were enqueued."""
    return int(client.hget(keys.counters(queue), "enq") or 0)
