"""Reads the records that a sample of a queue brings: jobs, heartbeats, counters, histograms. Pure.

Called by `facts` only. Anybody may have written them (another version, Ruby, a hand): what cannot be read
counts as absent, and nothing here raises.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from stanchion.job import Job
from stanchion.metrics import RUNTIME_LIMITS_MS
from stanchion.scaling.facts import ProcessFacts
from stanchion.store.work_record import read_all

PROCESS_FIELDS = ("info", "busy", "beat", "quiet", "concurrency")
QUANTILE = 0.95
MS_PER_SECOND = 1000


def count(value: bytes | None) -> int:
    """A counter of ours; 0 if it is absent or no number, as HINCRBY would refuse it."""
    try:
        return int(value or 0)
    except ValueError:
        return 0


def job(payload: bytes | None) -> Job | None:
    """None for no payload and for one that is no job: the worker buries that, it is no measure of age."""
    return None if payload is None else Job.read(payload)


def age_seconds(head: Job | None, now: float) -> float:
    """A clock ahead of Redis's stamps the future: that is age 0, not a negative one."""
    enqueued_at = head.enqueued_at_seconds if head else None
    return 0.0 if enqueued_at is None else max(0.0, now - enqueued_at)


def share(total: int, peeked: Sequence[bytes], queue: str) -> int:
    """How many of `total` due jobs belong to `queue`, judged by those peeked."""
    jobs = (job(payload) for payload in peeked)
    own = sum(1 for each in jobs if each is not None and each.queue == queue)
    return own if total <= len(peeked) else round(total * own / len(peeked))


def process(identity: str, record: Sequence[bytes | None]) -> ProcessFacts | None:
    """One heartbeat, the values of PROCESS_FIELDS; None if it has expired or is none we can read."""
    try:
        info_json, busy, beat, quiet, concurrency = record
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
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None


def running(work: Iterable[bytes], queue: str) -> Iterable[str]:
    """Names of the jobs of `queue` among a process's running ones."""
    for entry in read_all(work):
        if entry.queue == queue and (named := job(entry.payload)) is not None:
            yield named.name


def mean_seconds(runtime: Mapping[bytes, bytes]) -> float | None:
    """Mean runtime in seconds of one job's histogram."""
    runs = count(runtime.get(b"n"))
    return count(runtime.get(b"ms")) / runs / MS_PER_SECOND if runs > 0 else None


def quantile_seconds(runtime: Mapping[bytes, bytes]) -> float | None:
    """Upper limit, in seconds, of the bucket that holds the 95th percentile; the last has twice the limit
    before it."""
    counts = [max(0, count(runtime.get(b"b%d" % index))) for index in range(len(RUNTIME_LIMITS_MS) + 1)]
    total = sum(counts)
    if not total:
        return None
    rank = next(i for i, seen in enumerate(accumulate(counts)) if seen >= QUANTILE * total)
    limits = (*RUNTIME_LIMITS_MS, 2 * RUNTIME_LIMITS_MS[-1])
    return limits[rank] / MS_PER_SECOND
