"""Lets a test call a job's function that asks for `current_job()`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stanchion import current
from stanchion.current import CurrentJob
from stanchion.job import DEFAULT_QUEUE, Job, new_jid
from stanchion.outcomes import Interrupted


@contextmanager
def running(
    name: str = "test",
    *,
    jid: str | None = None,
    attempt: int = 1,
    tenant: str | None = None,
    queue: str = DEFAULT_QUEUE,
    stopping: bool = False,
) -> Iterator[CurrentJob]:
    """Inside the block a job runs, as a worker would say it. `attempt` counts from 1."""
    job = Job({"class": name, "jid": jid or new_jid(), "queue": queue, "args": []}).replace(
        tenant=tenant, retry_count=None if attempt == 1 else attempt - 2
    )
    with current.running(job, lambda: Interrupted() if stopping else None) as running_job:
        yield running_job
