"""The current job: seen by the job's own code, in tasks and threads, and by nobody else."""

from __future__ import annotations

import asyncio
import contextvars

import pytest

from stanchion.current import current_job, running
from stanchion.errors import StanchionError, TimeLimitExceeded
from stanchion.job import Job
from stanchion.outcomes import Interrupted
from stanchion.tracing import traceparent

JOB = Job({"class": "mail.welcome", "jid": "a1", "queue": "mail", "args": [], "tenant": "acme"})


def no_reason() -> None:
    """Nothing asks the job to end early."""


def test_outside_a_job_the_error_says_who_sets_it() -> None:
    with pytest.raises(StanchionError, match="a worker sets it"):
        current_job()


@pytest.mark.parametrize(("retry_count", "attempt"), [(None, 1), (0, 2), (1, 3)])
def test_the_attempt_counts_from_one(retry_count: int | None, attempt: int) -> None:
    with running(JOB.replace(retry_count=retry_count), no_reason):
        assert current_job().attempt == attempt


def test_a_job_knows_itself_and_hears_of_the_drain() -> None:
    reasons: list[Exception | None] = [None]
    with running(JOB.replace(snooze_count=2), lambda: reasons[0]):
        job = current_job()
        assert (job.jid, job.tenant, job.queue, job.name) == ("a1", "acme", "mail", "mail.welcome")
        assert (job.snoozes, job.stopping) == (2, False)
        job.check_stopping()
        for reason in (Interrupted(), TimeLimitExceeded()):
            reasons[0] = reason
            assert job.stopping
            with pytest.raises(type(reason)):
                job.check_stopping()
    with pytest.raises(StanchionError):
        current_job()


async def test_each_task_has_its_own_and_takes_it_into_threads() -> None:
    async def run(jid: str) -> tuple[str, str]:
        with running(JOB.replace(jid=jid), no_reason):
            await asyncio.sleep(0)
            return current_job().jid, await asyncio.to_thread(lambda: current_job().jid)

    first, second = await asyncio.gather(run("1"), run("2"))
    assert (first, second) == (("1", "1"), ("2", "2"))


@pytest.mark.parametrize(
    ("stated", "inside"), [("00-1", "00-1"), (None, "outer"), (7, "outer"), ("two\nlines", "outer")]
)
def test_the_jobs_trace_is_that_of_the_calls_it_makes(stated: object, inside: str) -> None:
    def run() -> tuple[str | None, str | None]:
        traceparent.set("outer")
        with running(JOB.replace(traceparent=stated), no_reason):
            within = traceparent.get()
        return within, traceparent.get()

    assert contextvars.copy_context().run(run) == (inside, "outer")


def test_a_job_can_read_its_trace() -> None:
    with running(JOB.replace(traceparent="00-1"), no_reason):
        assert current_job().traceparent == "00-1"
