"""Samples one queue for the autoscaler: what waits, how old, how fast, who works. Reads only.

Called every tick by the operator and the local runner. Three short pipelines, since each names keys that
the one before brought: the clock and the processes; the processes' records and the due jobs; the run
times of the jobs in sight. It must never decide anything, nor fail because of one unreadable record.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import redis.asyncio

from stanchion.errors import MalformedPayload
from stanchion.job import Job
from stanchion.metrics import RUNTIME_LIMITS_MS
from stanchion.scaling.facts import ProcessFacts, QueueFacts
from stanchion.store import keys

COUNTERS = ("enq", "eligible_enq", "done", "failed", "busy_ms")
PROCESS_FIELDS = ("info", "busy", "beat", "quiet", "concurrency")
PEEKED_DUE_JOBS = 200
"""Due jobs looked into per set; beyond that the queue's share among them is taken for the rest."""
QUANTILE = 0.95
MS_PER_SECOND = 1000


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
        oldest_age_seconds=_age(sight.head, sight.now) if visible else 0.0,
        busy=sum(running.values()),
        enqueued=enqueued,
        eligible=eligible,
        done=done,
        failed=failed,
        busy_ms=busy_ms,
        due_soon=due_soon,
        paused=sight.paused,
        service_hint_seconds=_mean(runtimes.get(sight.head.name)) if sight.head else None,
        running=running,
        runtime_p95_seconds={
            name: p95 for name in running if (p95 := _quantile(runtimes.get(name))) is not None
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
        head=_job(head),
        counters=tuple(int(value or 0) for value in counters),
        paused=bool(paused) or declared == b"true",
        identities=tuple(sorted(identity.decode() for identity in identities)),
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
            pipeline.hmget(keys.process(identity), PROCESS_FIELDS)
            pipeline.hvals(keys.work(identity))
            pipeline.hvals(keys.work_of_sidekiq_6(identity))
        replies = await pipeline.execute()
    due_soon = sum(_share(replies[at], replies[at + 1], queue) for at in (0, 2))
    processes: list[ProcessFacts] = []
    running: Counter[str] = Counter()
    records = zip(sight.identities, replies[4::3], replies[5::3], replies[6::3], strict=True)
    for identity, record, work, old_work in records:
        process = _process(identity, record)
        if process is not None and queue in process.queues:
            processes.append(process)
            running.update(_running(work or old_work, queue))
    return tuple(processes), dict(running), due_soon


async def _runtimes(client: redis.asyncio.Redis, names: Sequence[str]) -> Mapping[str, Mapping[bytes, bytes]]:
    if not names:
        return {}
    async with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.hgetall(keys.runtime(name))
        return dict(zip(names, await pipeline.execute(), strict=True))


def _job(payload: bytes | None) -> Job | None:
    """None for no payload and for one that is no job: the worker buries that, it is no measure of age."""
    try:
        return None if payload is None else Job.parse(payload)
    except MalformedPayload:
        return None


def _age(head: Job | None, now: float) -> float:
    """A clock ahead of Redis's stamps the future: that is age 0, not a negative one."""
    enqueued_at = head.enqueued_at_seconds if head else None
    return 0.0 if enqueued_at is None else max(0.0, now - enqueued_at)


def _share(count: int, peeked: Sequence[bytes], queue: str) -> int:
    """How many of `count` due jobs belong to `queue`, judged by those peeked."""
    own = sum(1 for payload in peeked if (job := _job(payload)) and job.queue == queue)
    return own if count <= len(peeked) else round(count * own / len(peeked))


def _process(identity: str, record: Sequence[bytes | None]) -> ProcessFacts | None:
    """One heartbeat; None if it has expired or is no process record we can read."""
    info_json, busy, beat, quiet, concurrency = record
    try:
        info: dict[str, Any] = json.loads(info_json or b"null") or {}
        return ProcessFacts(
            identity=identity,
            hostname=str(info["hostname"]),
            pid=int(info["pid"]),
            concurrency=int(concurrency if concurrency is not None else info["concurrency"]),
            busy=int(busy or 0),
            quiet=quiet == b"true",
            queues=tuple(str(name) for name in info["queues"]),
            beat_at_seconds=float(beat or 0),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _running(work: Iterable[bytes], queue: str) -> Iterable[str]:
    """Names of the jobs of `queue` among a process's running ones. The payload is JSON in JSON; Sidekiq
    before 6.1 wrote an object."""
    for entry in work:
        try:
            fields = json.loads(entry)
            if fields["queue"] != queue:
                continue
            payload = fields["payload"]
            text = payload if isinstance(payload, str) else json.dumps(payload)
            yield Job.parse(text.encode()).name
        except (KeyError, TypeError, ValueError):
            continue  # MalformedPayload is a ValueError: a slot we cannot name


def _mean(runtime: Mapping[bytes, bytes] | None) -> float | None:
    """Mean runtime in seconds of one job's histogram."""
    count = int((runtime or {}).get(b"n", 0))
    return int((runtime or {}).get(b"ms", 0)) / count / MS_PER_SECOND if count else None


def _quantile(runtime: Mapping[bytes, bytes] | None) -> float | None:
    """Upper limit, in seconds, of the bucket that holds the 95th percentile; the last has twice the limit
    before it."""
    counts = [int((runtime or {}).get(b"b%d" % index, 0)) for index in range(len(RUNTIME_LIMITS_MS) + 1)]
    total = sum(counts)
    if not total:
        return None
    rank = next(i for i, seen in enumerate(accumulate(counts)) if seen >= QUANTILE * total)
    limits = (*RUNTIME_LIMITS_MS, 2 * RUNTIME_LIMITS_MS[-1])
    return limits[rank] / MS_PER_SECOND
