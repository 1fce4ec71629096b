"""The queues at a glance, and what a person may do to one: pause, unpause, clear, delete.

Called by `stanchion queue`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import redis
import redis.asyncio
from redis.exceptions import RedisError, ResponseError, WatchError

from stanchion.job import Job
from stanchion.store import keys
from stanchion.store.processes import Process

WRONG_TYPE = "WRONGTYPE"
SETS = (keys.RETRY, keys.SCHEDULE, keys.DEAD)


@dataclass(frozen=True, slots=True)
class SetSizes:
    """How many jobs wait outside the queues, or are dead; 0 also for a key that is no sorted set."""

    retrying: int = 0
    scheduled: int = 0
    dead: int = 0


@dataclass(frozen=True, slots=True)
class QueueLine:
    """One queue. `oldest_age_seconds` is None when nothing waits or the head does not say; `workers` are the
    live processes that serve it; `paused` is `no`, `runtime` (a person paused it) or `policy`. `broken` says
    why the jobs that wait cannot be counted.
    """

    queue: str
    waiting: int
    oldest_age_seconds: float | None
    busy: int
    workers: int
    paused: str
    broken: str = ""


def overview(
    client: redis.Redis, processes: Sequence[Process], asked_for: Sequence[str] = ()
) -> list[QueueLine]:
    """Every queue that has held a job, or is paused, or has a policy, or is served by a process; by name.

    Those `asked_for` are there as well if jobs lie in them that somebody pushed without listing the queue.
    """
    with client.pipeline(transaction=False) as pipeline:
        pipeline.time()
        pipeline.smembers(keys.QUEUES)
        pipeline.smembers(keys.PAUSED)
        pipeline.hkeys(keys.CONFIG_INDEX)
        for name in asked_for:
            pipeline.exists(keys.queue(name))
        time, known, paused, declared, *hold_jobs = pipeline.execute()
    by_hand, now = set(_texts(paused)), time[0] + time[1] / 1e6
    policies = {entry.removeprefix("queue/") for entry in _texts(declared) if entry.startswith("queue/")}
    workers = Counter(queue for process in processes if process.is_alive for queue in process.queues)
    busy = Counter(running.queue for process in processes for running in process.running)
    unlisted = {name for name, is_there in zip(asked_for, hold_jobs, strict=True) if is_there}
    names = sorted({*_texts(known), *by_hand, *policies, *workers, *unlisted})
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.llen(keys.queue(name))
            pipeline.lindex(keys.queue(name), -1)
            pipeline.hget(keys.config("queue", name), "paused")
        # A key of another type breaks the row of its queue, not the others.
        replies = pipeline.execute(raise_on_error=False) if names else []
    return [
        QueueLine(
            name,
            waiting if isinstance(waiting, int) else 0,
            _age(head, now) if not isinstance(head, ResponseError) else None,
            busy[name],
            workers[name],
            "runtime" if name in by_hand else "policy" if is_paused == b"true" else "no",
            _broken(name, waiting, is_paused),
        )
        for name, waiting, head, is_paused in zip(
            names, replies[::3], replies[1::3], replies[2::3], strict=True
        )
    ]


def _broken(name: str, waiting: Any, is_paused: Any) -> str:
    """What is wrong with a queue's keys. Raises what is no matter of their types."""
    for key, reply in ((keys.queue(name), waiting), (keys.config("queue", name), is_paused)):
        if isinstance(reply, ResponseError):
            if not str(reply).startswith(WRONG_TYPE):
                raise reply
            return f"key {key} is of the wrong type"
    return ""


def set_sizes(client: redis.Redis) -> SetSizes:
    """The jobs in retry, schedule and dead."""
    with client.pipeline(transaction=False) as pipeline:
        for key in SETS:
            pipeline.zcard(key)
        return _sizes(pipeline.execute(raise_on_error=False))


async def set_sizes_async(client: redis.asyncio.Redis) -> SetSizes:
    """As `set_sizes`."""
    async with client.pipeline(transaction=False) as pipeline:
        for key in SETS:
            pipeline.zcard(key)
        return _sizes(await pipeline.execute(raise_on_error=False))


def _sizes(sizes: Sequence[Any]) -> SetSizes:
    for size in sizes:
        if isinstance(size, RedisError) and not str(size).startswith(WRONG_TYPE):
            raise size
    return SetSizes(*(size if isinstance(size, int) else 0 for size in sizes))


def is_known(client: redis.Redis, name: str) -> bool:
    """Whether there is anything to forget: its name, its pause or its counters."""
    with client.pipeline(transaction=False) as pipeline:
        pipeline.sismember(keys.QUEUES, name)
        pipeline.sismember(keys.PAUSED, name)
        pipeline.exists(keys.counters(name))
        return any(pipeline.execute())


def facts(client: redis.Redis, name: str) -> tuple[dict[str, str], str]:
    """A queue's counters, and the owner of its policy (`namespace/name`, empty without one)."""
    counters: Any = client.hgetall(keys.counters(name))
    owner: Any = client.hget(keys.config("queue", name), "owner")
    known = {field.decode(): count.decode(errors="replace") for field, count in counters.items()}
    return known, (owner or b"").decode(errors="replace")


def pause(client: redis.Redis, names: Iterable[str]) -> list[str]:
    """Stop workers from starting jobs of these queues; returns those that were not paused before."""
    return [name for name in names if _switch(client, "sadd", name)]


def unpause(client: redis.Redis, names: Iterable[str]) -> list[str]:
    """Let workers start jobs of these queues again; returns those that were paused before."""
    return [name for name in names if _switch(client, "srem", name)]


def clear(client: redis.Redis, name: str) -> int:
    """Remove all jobs that are ready in a queue at this instant; returns how many there were just before.

    No transaction: a Redis that is full refuses even a removal within one, and this is how it is emptied.
    """
    with client.pipeline(transaction=False) as pipeline:
        pipeline.llen(keys.queue(name))
        pipeline.unlink(keys.queue(name))
        count, _ = pipeline.execute()
    return int(count)


def delete(client: redis.Redis, name: str) -> bool:
    """Forget an empty queue: its name, pause and counters. False, with nothing changed, while jobs wait.

    WATCH holds the look and the removal together: a job pushed in between must not be hidden.
    """
    with client.pipeline(transaction=True) as pipeline:
        pipeline.watch(keys.queue(name))  # type: ignore[no-untyped-call]  # redis-py has no hints here
        if pipeline.llen(keys.queue(name)):
            return False
        pipeline.multi()
        pipeline.srem(keys.QUEUES, name)
        pipeline.srem(keys.PAUSED, name)
        pipeline.unlink(keys.counters(name))
        pipeline.publish(keys.PAUSE_CHANNEL, name)
        try:
            pipeline.execute()
        except WatchError:
            return False
    return True


def _switch(client: redis.Redis, command: str, name: str) -> bool:
    # The flag alone leaves idle workers blocked on the queue until their next heartbeat: tell them as well.
    # No transaction: a Redis that is full would refuse to unpause.
    with client.pipeline(transaction=False) as pipeline:
        getattr(pipeline, command)(keys.PAUSED, name)
        pipeline.publish(keys.PAUSE_CHANNEL, name)
        changed, _ = pipeline.execute()
    return bool(changed)


def _age(payload: bytes | None, now: float) -> float | None:
    head = Job.read(payload) if payload else None
    enqueued_at = head.enqueued_at_seconds if head else None
    return None if enqueued_at is None else max(0.0, now - enqueued_at)


def _texts(names: Iterable[bytes]) -> list[str]:
    return [name.decode(errors="replace") for name in names]
