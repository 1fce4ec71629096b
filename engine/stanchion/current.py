"""Which job is running here: set by the worker around each run, read by application code.

A context variable carries it, so it follows the job through tasks and into its thread.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from stanchion.errors import StanchionError
from stanchion.job import Job
from stanchion.tracing import is_traceparent, traceparent

StopReason = Callable[[], Exception | None]
"""Why the running job should end early, as the exception `check_stopping` raises; None while it need not."""


@dataclass(frozen=True, slots=True)
class CurrentJob:
    """What a running job may know about itself."""

    record: Job
    """As it lies in Redis, with every field."""
    stop_reason: StopReason = field(repr=False)

    @property
    def jid(self) -> str:
        """The job id."""
        return self.record.jid

    @property
    def name(self) -> str:
        """The job's name."""
        return self.record.name

    @property
    def queue(self) -> str:
        """The queue the payload names."""
        return self.record.queue

    @property
    def tenant(self) -> str | None:
        """Whom the job counts for, if the caller said so."""
        return self.record.tenant

    @property
    def attempt(self) -> int:
        """1 for the first run, one more after each failure."""
        failures = self.record.retry_count
        return 1 if failures is None else failures + 2

    @property
    def snoozes(self) -> int:
        """How often it has put itself off."""
        return self.record.snooze_count

    @property
    def traceparent(self) -> str | None:
        """The trace it belongs to, as the payload has it."""
        return self.record.traceparent

    @property
    def stopping(self) -> bool:
        """Whether to end early: the worker drains, the job is past its time limit, or it was cancelled."""
        return self.stop_reason() is not None

    def check_stopping(self) -> None:
        """Call it where a long job may safely end. Raises Interrupted if the worker drains (the job runs
        again elsewhere, not counted as a failure), TimeLimitExceeded past the job's time limit, and Discard
        if somebody cancelled it.
        """
        reason = self.stop_reason()
        if reason is not None:
            raise reason


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


def job_running_here() -> CurrentJob | None:
    """The same for code that runs inside and outside of jobs, such as a log formatter."""
    return _running.get()


class running:  # noqa: N801 - used like the function it would be, were a generator not so dear for each job
    """Make `job` the current one inside the block, and its trace that of the calls made there."""

    __slots__ = ("_current", "_outer", "_token")

    def __init__(self, job: Job, stop_reason: StopReason) -> None:
        self._current = CurrentJob(job, stop_reason)

    def __enter__(self) -> CurrentJob:
        self._token = _running.set(self._current)
        trace = self._current.traceparent
        self._outer = traceparent.set(trace) if is_traceparent(trace) else None
        return self._current

    def __exit__(self, *_: object) -> None:
        _running.reset(self._token)
        if self._outer is not None:
            traceparent.reset(self._outer)
