"""The queues at a glance, and the pause switch that a person uses. Called by `stanchion queue`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import redis

from stanchion.errors import MalformedPayload
from stanchion.job import Job
from stanchion.store import keys


@dataclass(frozen=True, slots=True)
class QueueLine:
    """One queue. `oldest_age_seconds` is None when nothing waits or the head does not say.

    `paused` is `no`, `runtime` (a person paused it) or `policy` (its QueuePolicy says so).
    """

    queue: str
    waiting: int
    oldest_age_seconds: float | None
    busy: int
    paused: str


def pause(client: redis.Redis, names: Iterable[str]) -> list[str]:
    """Stop workers from starting jobs of these queues; returns those that were not paused before."""
    return [name for name in names if _switch(client, "sadd", name)]


def unpause(client: redis.Redis, names: Iterable[str]) -> list[str]:
    """Let workers start jobs of these queues again; returns those that were paused before."""
    return [name for name in names if _switch(client, "srem", name)]


def _switch(client: redis.Redis, command: str, name: str) -> bool:
    # The flag alone leaves idle workers blocked on the queue until their next heartbeat: tell them as well.
    with client.pipeline(transaction=True) as pipeline:
        getattr(pipeline, command)(keys.PAUSED, name)
        pipeline.publish(keys.PAUSE_CHANNEL, name)
        changed, _ = pipeline.execute()
    return bool(changed)


def overview(client: redis.Redis) -> list[QueueLine]:
    """Every queue that has held a job, or is paused, or has a policy, by name."""
    with client.pipeline(transaction=False) as pipeline:
        pipeline.time()
        pipeline.smembers(keys.QUEUES)
        pipeline.smembers(keys.PAUSED)
        pipeline.hkeys(keys.CONFIG_INDEX)
        pipeline.smembers(keys.PROCESSES)
        time, known, paused, declared, processes = pipeline.execute()
    policies = {
        name for kind, _, name in (entry.decode().partition("/") for entry in declared) if kind == "queue"
    }
    by_hand = {name.decode() for name in paused}
    names = sorted({name.decode() for name in known} | by_hand | policies)
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.llen(keys.queue(name))
            pipeline.lindex(keys.queue(name), -1)
            pipeline.hget(keys.config("queue", name), "paused")
        for identity in processes:
            pipeline.hvals(keys.work(identity.decode()))
            pipeline.hvals(keys.work_of_sidekiq_6(identity.decode()))
        replies = pipeline.execute()
    works = replies[3 * len(names) :]
    # A process of ours has written both: they are one.
    busy = _busy(chain.from_iterable(new or old for new, old in zip(works[::2], works[1::2], strict=True)))
    now = time[0] + time[1] / 1e6
    return [
        QueueLine(
            name,
            replies[3 * at],
            _age(replies[3 * at + 1], now),
            busy[name],
            "runtime" if name in by_hand else "policy" if replies[3 * at + 2] == b"true" else "no",
        )
        for at, name in enumerate(names)
    ]


def _age(payload: bytes | None, now: float) -> float | None:
    try:
        enqueued_at = Job.parse(payload).enqueued_at_seconds if payload else None
    except MalformedPayload:
        return None
    return None if enqueued_at is None else max(0.0, now - enqueued_at)


def _busy(works: Iterable[bytes]) -> Counter[str]:
    """Running jobs by queue. A record that is not ours to read counts for nothing."""
    running: Counter[str] = Counter()
    for work in works:
        try:
            record = json.loads(work)
        except ValueError:
            continue
        if isinstance(record, dict):
            running[str(record.get("queue", ""))] += 1
    return running
