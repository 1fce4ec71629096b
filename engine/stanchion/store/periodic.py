"""Periodic jobs in Redis: the mark of each one's last tick, and what was declared, for whoever asks.

The worker's ticker writes, the command line and the web page read. A tick is enqueued by the script that
moves its mark, so it is enqueued once, whoever else tries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import redis
import redis.asyncio

from stanchion.errors import InvalidArguments
from stanchion.periodic import Periodic
from stanchion.store import keys
from stanchion.store.script import Script

TICK = Script("tick")
FORGET_SECONDS = 30 * 86_400.0
"""An entry that no worker has declared for so long is struck."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One periodic job as the workers last declared it; times in epoch seconds."""

    entry: str
    name: str
    queue: str
    periodic: Periodic
    seen_at_seconds: float
    last_at_seconds: float | None
    """The last tick that is done with; None before the first."""

    def next_at_seconds(self, now: float) -> float:
        """Its next tick."""
        return self.periodic.next_tick(now)


async def marks(client: redis.asyncio.Redis, entries: Sequence[str]) -> tuple[float, list[str]]:
    """Redis' own time, and the mark of each entry ('' = none): leaders with other clocks agree on it."""
    async with client.pipeline(transaction=False) as pipeline:
        pipeline.time()
        pipeline.hmget(keys.PERIODIC_TICKS, list(entries))
        (seconds, microseconds), found = await pipeline.execute()
    return seconds + microseconds / 1e6, [mark.decode(errors="replace") if mark else "" for mark in found]


async def tick(
    client: redis.asyncio.Redis, entry: str, *, seen: str, mark: str, queue: str, payloads: Sequence[bytes]
) -> bool:
    """Enqueue and move the mark from `seen` to `mark`. False if another process was faster."""
    names = [keys.PERIODIC_TICKS, keys.queue(queue), keys.QUEUES, keys.counters(queue)]
    return bool(await TICK.arun(client, names, [entry, seen, mark, queue, *payloads]))


async def declare(client: redis.asyncio.Redis, entries: Iterable[Mapping[str, Any]], now: float) -> None:
    """Say which periodic jobs there are, and strike those that nobody has declared for long."""
    records: Any = {entry["entry"]: json.dumps({**entry, "seen_at": now}) for entry in entries}
    known: dict[Any, Any] = await client.hgetall(keys.PERIODIC)
    old = [entry for entry, raw in known.items() if now - _seen_at(raw) > FORGET_SECONDS]
    async with client.pipeline(transaction=False) as pipeline:
        if old:
            pipeline.hdel(keys.PERIODIC, *old)
            pipeline.hdel(keys.PERIODIC_TICKS, *old)
        pipeline.hset(keys.PERIODIC, mapping=records)
        await pipeline.execute()


def listing(client: redis.Redis) -> list[Declared]:
    """Every periodic job that a worker declared, by name."""
    known: Any = client.hgetall(keys.PERIODIC)
    ticks: Any = client.hgetall(keys.PERIODIC_TICKS)
    found = [_declared(raw, ticks.get(entry)) for entry, raw in known.items()]
    return sorted((one for one in found if one is not None), key=lambda one: one.entry)


def _declared(raw: bytes, mark: bytes | None) -> Declared | None:
    """None for what is no declaration: a newer version's, or a stranger's."""
    try:
        fields = json.loads(raw)
        periodic = Periodic(fields["line"], fields["time_zone"], fields["missed"], tuple(fields["args"]))
        name, queue, entry = fields["name"], fields["queue"], fields["entry"]
        return Declared(entry, name, queue, periodic, float(fields["seen_at"]), _last_tick(periodic, mark))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, InvalidArguments):
        return None


def _last_tick(periodic: Periodic, mark: bytes | None) -> float | None:
    """The mark if it is a tick: that of a new job says when it was first seen."""
    try:
        at_seconds = mark_seconds(mark)
        is_tick = at_seconds is not None and at_seconds in periodic.ticks(at_seconds - 1, at_seconds)
        return at_seconds if is_tick else None
    except (ValueError, OverflowError, OSError):  # a number that no clock shows
        return None


def mark_seconds(mark: bytes | str | None) -> float | None:
    """A mark as a time; None for none, and for what is no time."""
    try:
        return float(mark) if mark else None
    except ValueError:
        return None


def _seen_at(raw: bytes) -> float:
    try:
        return float(json.loads(raw)["seen_at"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return 0.0
