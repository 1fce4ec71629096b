"""Executions per minute as Sidekiq's metrics page reads them: counts, milliseconds and a histogram per job.

Called by the supervisor every ten seconds with what its children report. Only successes have a time: how
long a failure took says nothing about a job.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import redis.asyncio

from stanchion.dialect import Dialect
from stanchion.metrics import BUCKET, Executions
from stanchion.store import keys

EIGHT_HOURS = 8 * 3600
THREE_DAYS = 72 * 3600


@dataclass(frozen=True, slots=True)
class Record:
    """What to add under one key: `counts` to the fields of a HASH, or `buckets` of 16 bits to a STRING."""

    key: str
    ttl_seconds: int
    counts: Mapping[str, int] = field(default_factory=dict)
    buckets: Mapping[int, int] = field(default_factory=dict)


def records(executions: Executions, dialect: Dialect, now: float) -> Iterator[Record]:
    """The keys of every version that is to understand them; 6.5 reads those of 7."""
    at = datetime.fromtimestamp(now, UTC)
    counts: dict[str, int] = {}
    histograms: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for (job, what), number in executions.items():
        if what.startswith(BUCKET):
            histograms[job][int(what.removeprefix(BUCKET))] = int(number)
        else:
            counts[f"{job}|{what}"] = int(number)
    if dialect.majors & {6, 7}:
        yield Record(keys.executions(f"{at:%Y%m%d}", f"{at.hour}:{at.minute}"), EIGHT_HOURS, counts)
        for job, buckets in histograms.items():
            key = keys.histogram_of_sidekiq_7(job, f"{at:%d-%H}:{at.minute}")
            yield Record(key, EIGHT_HOURS, buckets=buckets)
    if 8 in dialect.majors:
        minute = keys.executions(f"{at:%y%m%d}", f"{at.hour}:{at:%M}")
        yield Record(minute, EIGHT_HOURS, counts)
        yield Record(minute[:-1], THREE_DAYS, counts)  # of ten minutes
        for job, buckets in histograms.items():
            key = keys.histogram(job, f"{at.day}-{at.hour}:{at.minute}")
            yield Record(key, EIGHT_HOURS, buckets=buckets)


async def flush(client: redis.asyncio.Redis, executions: Executions, dialect: Dialect, now: float) -> None:
    """Add to the minute of `now`, epoch seconds. Raises redis-py's errors; part of it may be written then."""
    async with client.pipeline(transaction=False) as pipeline:
        for record in records(executions, dialect, now):
            for name, number in record.counts.items():
                pipeline.hincrby(record.key, name, number)
            if record.buckets:
                steps = [("INCRBY", "u16", f"#{index}", n) for index, n in record.buckets.items()]
                # A full bucket stays full: it must not begin at 0 again.
                pipeline.execute_command("BITFIELD", record.key, "OVERFLOW", "SAT", *sum(steps, ()))
            pipeline.expire(record.key, record.ttl_seconds)
        await pipeline.execute()
