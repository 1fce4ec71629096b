"""The tools for an application's tests."""

from __future__ import annotations

import pytest

from stanchion import testing
from stanchion.app import App
from stanchion.current import current_job
from stanchion.errors import InvalidArguments

app = App("redis://localhost:1/0")


@app.job(queue="mail")
def welcome(user: int) -> int:
    return current_job().attempt * user


async def test_calls_are_recorded_and_accepted_without_redis() -> None:
    with testing.record(app) as calls:
        assert (await welcome.aenqueue(7)).accepted
        assert (await welcome.options(delay=60, jid="a1").aenqueue(8)).status == "scheduled"
        assert len(await app.aenqueue_many([welcome.call(9)])) == 1
        with pytest.raises(InvalidArguments):
            await app.aenqueue("welcome", [])
    assert [(call.name, call.queue, call.args) for call in calls] == [
        ("welcome", "mail", [7]),
        ("welcome", "mail", [8]),
        ("welcome", "mail", [9]),
    ]


def test_a_recording_ends_with_its_block() -> None:
    with testing.record(app) as outer:
        with testing.record(app) as inner:
            welcome.enqueue(1)
        welcome.enqueue(2)
    assert ([call.args for call in inner], [call.args for call in outer]) == ([[1]], [[2]])


def test_a_function_that_asks_for_its_job_can_be_called() -> None:
    with testing.running("welcome", attempt=3, tenant="acme", stopping=True) as job:
        assert welcome(2) == 6
        assert (job.name, job.tenant, job.stopping) == ("welcome", "acme", True)
