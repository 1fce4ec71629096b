"""What the jobs of both sides left in Redis."""

from __future__ import annotations

import json
from typing import Any

import redis

from interop.interop_app import LEDGER, STARTED
from stanchion.store import keys
from waiting import until

PATIENCE_SECONDS = 30.0
"""Ruby's scheduler may stay away up to five seconds at first, on a machine that is busy with other tests."""


def ledger(client: redis.Redis) -> list[list[Any]]:
    """`[side, argument, …]` of each job that ended, in order."""
    marks: list[Any] = client.lrange(LEDGER, 0, -1)
    return [json.loads(mark) for mark in marks]


def started(client: redis.Redis) -> list[int]:
    """Arguments of the holding jobs that began."""
    marks: list[Any] = client.lrange(STARTED, 0, -1)
    return [json.loads(mark) for mark in marks]


def await_ledger(client: redis.Redis, count: int) -> list[list[Any]]:
    """The ledger, once it has `count` lines."""
    until(lambda: len(ledger(client)) >= count, timeout_seconds=PATIENCE_SECONDS)
    return ledger(client)


def await_one(client: redis.Redis, set_key: str, **fields: Any) -> dict[str, Any]:
    """The only job of `retry`, `dead` or `schedule`, once it has these fields."""

    def holds() -> bool:
        found = _jobs(client, set_key)
        return len(found) == 1 and fields.items() <= found[0].items()

    until(holds, timeout_seconds=PATIENCE_SECONDS)
    return _jobs(client, set_key)[0]


def make_due(client: redis.Redis, set_key: str) -> None:
    """Let every job of a set fall due now."""
    members: list[Any] = client.zrange(set_key, 0, -1)
    if members:
        client.zadd(set_key, dict.fromkeys(members, 0.0), xx=True)


def queued(client: redis.Redis, queue: str = "mail") -> list[dict[str, Any]]:
    """The jobs in a queue, the head first."""
    payloads: list[Any] = client.lrange(keys.queue(queue), 0, -1)
    return [json.loads(payload) for payload in reversed(payloads)]


def _jobs(client: redis.Redis, set_key: str) -> list[dict[str, Any]]:
    members: list[Any] = client.zrange(set_key, 0, -1)
    return [json.loads(member) for member in members]
