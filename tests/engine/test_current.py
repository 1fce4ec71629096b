"""The current job: seen by the job's own code, in tasks and threads, and by nobody else."""

from __future__ import annotations

import asyncio

import pytest

from stanchion.current import current_job, running
from stanchion.errors import StanchionError
from stanchion.job import Job

JOB = Job({"class": "mail.welcome", "jid": "a1", "queue": "mail", "args": [], "tenant": "acme"})


def test_outside_a_job_the_error_says_who_sets_it() -> None:
    with pytest.raises(StanchionError, match="a worker sets it"):
        current_job()


@pytest.mark.parametrize(("retry_count", "attempt"), [(None, 1), (0, 2), (1, 3)])
def test_the_attempt_counts_from_one(retry_count: int | None, attempt: int) -> None:
    with running(JOB.replace(retry_count=retry_count), lambda: False):
        assert current_job().attempt == attempt


def test_a_job_knows_itself_and_hears_of_the_drain() -> None:
    drain = [False]
    with running(JOB, lambda: drain[0]):
        job = current_job()
        assert (job.jid, job.tenant, job.queue, job.name) == ("a1", "acme", "mail", "mail.welcome")
        assert not job.stopping
        drain[0] = True
        assert job.stopping
    with pytest.raises(StanchionError):
        current_job()


async def test_each_task_has_its_own_and_takes_it_into_threads() -> None:
    async def run(jid: str) -> tuple[str, str]:
        with running(JOB.replace(jid=jid), lambda: False):
            await asyncio.sleep(0)
            return current_job().jid, await asyncio.to_thread(lambda: current_job().jid)

    first, second = await asyncio.gather(run("1"), run("2"))
    assert (first, second) == (("1", "1"), ("2", "2"))
