"""What a person can do with entries of a set: make them ready, kill them, delete them.

Called by `admin.bulk`, a chunk at a time. Each action names the exact bytes that were looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import redis

from stanchion.admin.selection import Found
from stanchion.dialect import Dialect
from stanchion.job import Job
from stanchion.policy.queue_policy import DeadLimits
from stanchion.store import entries
from stanchion.store.entries import Answer, Requeue

Fate = Answer | None
"""What became of one entry; None: its bytes are no job, so it stays where it is."""
Action = Callable[[redis.Redis, str, Sequence[Found]], list[Fate]]


@dataclass(frozen=True, slots=True)
class MakeReady:
    """Push each job to its queue, stamped as `dialect` writes times. With `lowers_retry_count` (retry, dead)
    one failure is forgiven, as by Sidekiq's web page, so that the attempt does not count against the job.
    """

    dialect: Dialect
    lowers_retry_count: bool

    def __call__(self, client: redis.Redis, set_key: str, chosen: Sequence[Found]) -> list[Fate]:
        now = entries.clock(client)
        moves = [
            Requeue(found.entry, found.job.queue, self.becomes(found.job, now).dump())
            for found in chosen
            if found.job is not None
        ]
        answers = iter(entries.requeue(client, set_key, moves) if moves else ())
        return [next(answers) if found.job is not None else None for found in chosen]

    def becomes(self, job: Job, now: float) -> Job:
        """The record of a job that is made ready. Pure; every field that is not named here survives."""
        ready = job.replace(enqueued_at=self.dialect.timestamp(now))
        if self.lowers_retry_count and job.retry_count is not None:
            return ready.replace(retry_count=job.retry_count - 1)
        return ready


@dataclass(frozen=True, slots=True)
class Kill:
    """Move each entry to `dead` as it is. `limits` trim the dead set, which is one for all queues."""

    limits: DeadLimits

    def __call__(self, client: redis.Redis, set_key: str, chosen: Sequence[Found]) -> list[Fate]:
        answers = entries.bury(
            client,
            set_key,
            [found.entry for found in chosen],
            now=entries.clock(client),
            keep_jobs=self.limits.max_jobs,
            keep_seconds=self.limits.retention_seconds,
        )
        return list(answers)


def delete(client: redis.Redis, set_key: str, chosen: Sequence[Found]) -> list[Fate]:
    """Remove each entry for good."""
    return list(entries.delete(client, set_key, [found.entry for found in chosen]))
