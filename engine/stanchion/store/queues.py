"""The queues at a glance, and what a person may do to one: pause, unpause, clear, delete.

Called by `stanchion queue`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import redis
from redis.exceptions import WatchError

from stanchion.job import Job
from stanchion.store import keys
from stanchion.store.processes import Process


@dataclass(frozen=True, slots=True)
class QueueLine:
    """One queue. `oldest_age_seconds` is None when nothing waits or the head does not say; `workers` are the
    live processes that serve it; `paused` is `no`, `runtime` (a person paused it) or `policy`.
    """

    queue: str
    waiting: int
    oldest_age_seconds: float | None
    busy: int
    workers: int
    paused: str


def overview(client: redis.Redis, processes: Sequence[Process]) -> list[QueueLine]:
    """Every queue that has held a job, or is paused, or has a policy, or is served by a process; by name."""
    with client.pipeline(transaction=False) as pipeline:
        pipeline.time()
        pipeline.smembers(keys.QUEUES)
        pipeline.smembers(keys.PAUSED)
        pipeline.hkeys(keys.CONFIG_INDEX)
        time, known, paused, declared = pipeline.execute()
    by_hand, now = set(_texts(paused)), time[0] + time[1] / 1e6
    policies = {entry.removeprefix("queue/") for entry in _texts(declared) if entry.startswith("queue/")}
    workers = Counter(queue for process in processes if process.is_alive for queue in process.queues)
    busy = Counter(running.queue for process in processes for running in process.running)
    names = sorted({*_texts(known), *by_hand, *policies, *workers})
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.llen(keys.queue(name))
            pipeline.lindex(keys.queue(name), -1)
            pipeline.hget(keys.config("queue", name), "paused")
        replies = pipeline.execute() if names else []
    return [
        QueueLine(
            name,
            waiting,
            _age(head, now),
            busy[name],
            workers[name],
            "runtime" if name in by_hand else "policy" if is_paused == b"true" else "no",
        )
        for name, waiting, head, is_paused in zip(
            names, replies[::3], replies[1::3], replies[2::3], strict=True
        )
    ]


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
    """Remove all jobs that are ready in a queue at this instant; returns how many."""
    with client.pipeline(transaction=True) as pipeline:
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
    with client.pipeline(transaction=True) as pipeline:
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
