"""Which job is running here: set by the worker around each run, read by application code.

A context variable carries it, so it follows the job through tasks and into its thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from stanchion.errors import StanchionError
from stanchion.job import Job


@dataclass(frozen=True, slots=True)
class CurrentJob:
    """What a running job may know about itself."""

    jid: str
    attempt: int
    """1 for the first run, one more after each failure."""
    tenant: str | None
    queue: str
    name: str
    is_stopping: Callable[[], bool] = field(repr=False)

    @property
    def stopping(self) -> bool:
        """Whether the worker is draining: a long job may save its progress and end early."""
        return self.is_stopping()


_running: ContextVar[CurrentJob | None] = ContextVar("stanchion_current_job", default=None)


def current_job() -> CurrentJob:
    """The job that is running here. Raises StanchionError outside of one."""
    job = _running.get()
    if job is None:
        raise StanchionError(
            "current_job() was called where no job is running; "
            "a worker sets it, and so does stanchion.testing.running() in a test"
        )
    return job


@contextmanager
def running(job: Job, stopping: Callable[[], bool]) -> Iterator[CurrentJob]:
    """Make `job` the current one inside the block. `stopping` answers whether the worker drains."""
    failures = job.retry_count
    current = CurrentJob(
        jid=job.jid,
        attempt=1 if failures is None else failures + 2,
        tenant=job.tenant,
        queue=job.queue,
        name=job.name,
        is_stopping=stopping,
    )
    token = _running.set(current)
    try:
        yield current
    finally:
        _running.reset(token)
