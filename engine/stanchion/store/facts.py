"""Samples one queue for the autoscaler: what waits, how old, how fast, who works. Reads only.

Called every tick by the operator and the local runner. Three short pipelines, since each names keys that
the one before brought: the clock and the processes; the processes' records and the due jobs; the run
times of the jobs in sight. It must never decide anything, nor fail because of one unreadable record.
`facts_records` reads the records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import redis.asyncio
from redis.exceptions import RedisError

from stanchion.job import Job
from stanchion.scaling.facts import ProcessFacts, QueueFacts
from stanchion.store import facts_records, keys

COUNTERS = ("enq", "eligible_enq", "done", "failed", "busy_ms")
PEEKED_DUE_JOBS = 200
"""Due jobs looked into per set; beyond that the queue's share among them is taken for the rest."""


@dataclass(frozen=True, slots=True)
class _Sight:
    """What the first pipeline brought."""

    now: float
    waiting: int
    head: Job | None
    counters: tuple[int, ...]
    paused: bool
    identities: tuple[str, ...]


async def sample(client: redis.asyncio.Redis, queue: str, *, lead_seconds: float) -> QueueFacts:
    """The facts of `queue` now. Raises redis-py's errors: the caller then has no facts, which is no zero."""
    sight = await _look(client, queue)
    processes, running, due_soon = await _who_works(client, queue, sight, lead_seconds)
    names = {*running, sight.head.name} if sight.head else set(running)
    runtimes = await _runtimes(client, sorted(names))
    visible = 0 if sight.paused else sight.waiting
    enqueued, eligible, done, failed, busy_ms = sight.counters
    return QueueFacts(
        queue=queue,
        at_seconds=sight.now,
        waiting=visible,
        oldest_age_seconds=facts_records.age_seconds(sight.head, sight.now) if visible else 0.0,
        busy=sum(running.values()),
        enqueued=enqueued,
        eligible=eligible,
        done=done,
        failed=failed,
        busy_ms=busy_ms,
        due_soon=due_soon,
        paused=sight.paused,
        service_hint_seconds=facts_records.mean_seconds(runtimes[sight.head.name]) if sight.head else None,
        running=running,
        runtime_p95_seconds={
            name: p95
            for name in running
            if (p95 := facts_records.quantile_seconds(runtimes[name])) is not None
        },
        processes=processes,
    )


async def _look(client: redis.asyncio.Redis, queue: str) -> _Sight:
    async with client.pipeline(transaction=False) as pipeline:
        pipeline.time()
        pipeline.llen(keys.queue(queue))
        pipeline.lindex(keys.queue(queue), -1)
        pipeline.hmget(keys.counters(queue), COUNTERS)
        pipeline.sismember(keys.PAUSED, queue)
        pipeline.hget(keys.config("queue", queue), "paused")
        pipeline.smembers(keys.PROCESSES)
        time, waiting, head, counters, paused, declared, identities = await pipeline.execute()
    return _Sight(
        now=time[0] + time[1] / 1e6,
        waiting=waiting,
        head=facts_records.job(head),
        counters=tuple(facts_records.count(value) for value in counters),
        paused=bool(paused) or declared == b"true",
        identities=tuple(sorted(identity.decode(errors="replace") for identity in identities)),
    )


async def _who_works(
    client: redis.asyncio.Redis, queue: str, sight: _Sight, lead_seconds: float
) -> tuple[tuple[ProcessFacts, ...], Mapping[str, int], int]:
    """The processes of the queue, job name -> busy slots, and how many jobs fall due soon."""
    async with client.pipeline(transaction=False) as pipeline:
        for name in (keys.SCHEDULE, keys.RETRY):
            soon = sight.now + lead_seconds
            pipeline.zcount(name, "-inf", soon)
            pipeline.zrangebyscore(name, "-inf", soon, start=0, num=PEEKED_DUE_JOBS)
        for identity in sight.identities:
            pipeline.hmget(keys.process(identity), facts_records.PROCESS_FIELDS)
            pipeline.hvals(keys.work(identity))
            pipeline.hvals(keys.work_of_sidekiq_6(identity))
        replies = _readable(await pipeline.execute(raise_on_error=False), needed=4)
    due_soon = sum(facts_records.share(replies[at], replies[at + 1], queue) for at in (0, 2))
    processes: list[ProcessFacts] = []
    running: Counter[str] = Counter()
    records = zip(sight.identities, replies[4::3], replies[5::3], replies[6::3], strict=True)
    for identity, record, work, old_work in records:
        process = facts_records.process(identity, record)
        if process is not None and queue in process.queues:
            processes.append(process)
            running.update(facts_records.running(work or old_work, queue))
    return tuple(processes), dict(running), due_soon


async def _runtimes(client: redis.asyncio.Redis, names: Sequence[str]) -> Mapping[str, Mapping[bytes, bytes]]:
    if not names:
        return {}
    async with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.hgetall(keys.runtime(name))
        return dict(zip(names, _readable(await pipeline.execute(raise_on_error=False)), strict=True))


def _readable(replies: Sequence[Any], needed: int = 0) -> list[Any]:
    """Replies in which a refused command (a key of another type) counts as an empty record, but for the
    first `needed`: those are the queue's own, and an error there is no zero. Raises it."""
    for reply in replies[:needed]:
        if isinstance(reply, RedisError):
            raise reply
    return [{} if isinstance(reply, RedisError) else reply for reply in replies]
