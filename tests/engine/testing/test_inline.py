"""Calls that run where they are made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import stanchion
from stanchion import testing
from stanchion.app import App
from stanchion.errors import TimeLimitExceeded, UnknownJob
from stanchion.job import Job

app = App("redis://127.0.0.1:1/0")
seen: list[Any] = []


@app.middleware.client
def sign(job: Job) -> Job:
    return job.replace(signed=True)


@app.middleware.server
async def note_signature(job: Job, call_next: Callable[[], Awaitable[None]]) -> None:
    seen.append(("signed", job.fields["signed"]))
    await call_next()


@app.job
async def parent(rows: list[int], *, then: str) -> None:
    seen.append(("parent", rows, stanchion.current_job().tenant))
    await app.aenqueue(then)


@app.job
def child() -> None:
    seen.append(("child", stanchion.current_job().name))


@app.job
def grandparent() -> None:
    parent.enqueue([1], then="child")


@app.job
def raises(error: str) -> None:
    raise {"snooze": stanchion.Snooze(5), "value": ValueError("boom")}[error]


@app.job(timeout_seconds=0.05)
async def slow() -> None:
    await asyncio.sleep(60)


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    seen.clear()


def test_a_call_runs_with_all_it_sets_going_before_it_returns() -> None:
    with testing.inline(app) as ran:
        verdict = parent.options(tenant="acme").enqueue((1, 2), then="child")  # type: ignore[arg-type]
    assert seen == [
        ("signed", True),
        ("parent", [1, 2], "acme"),
        ("signed", True),
        ("child", "child"),
    ]
    assert [(each.job.name, each.outcome) for each in ran] == [("child", None), ("parent", None)]
    assert (verdict.status, verdict.jid) == ("enqueued", ran[1].job.jid)


async def test_async_callers_and_delays_and_bulk_calls_run_at_once_too() -> None:
    with testing.inline(app) as ran:
        assert (await child.options(delay=3600).aenqueue()).status == "scheduled"
        assert len(await app.aenqueue_many([child.call(), child.call()])) == 2
        await grandparent.aenqueue()
    assert [each.job.name for each in ran] == ["child"] * 4 + ["parent", "grandparent"]
    assert threading.active_count() == 1


def test_an_error_reaches_the_caller_and_an_outcome_the_list() -> None:
    with testing.inline(app) as ran:
        with pytest.raises(ValueError, match="boom"):
            raises.enqueue("value")
        with pytest.raises(TimeLimitExceeded):
            slow.enqueue()
        raises.enqueue("snooze")
    [snoozed] = ran
    assert isinstance(snoozed.outcome, stanchion.Snooze)


def test_a_name_the_app_does_not_have_is_a_clear_error() -> None:
    with testing.inline(app), pytest.raises(UnknownJob, match=r"no job 'mail\.other'"):
        app.enqueue("mail.other")


def test_a_plain_job_runs_in_the_thread_of_the_test() -> None:
    """Where the test's database transaction is."""
    plain = App("redis://127.0.0.1:1/0")
    threads: list[threading.Thread] = []

    @plain.job
    def where() -> None:
        threads.append(threading.current_thread())

    @plain.job
    def wrapper() -> Awaitable[None]:
        return elsewhere()

    async def elsewhere() -> None:
        await asyncio.sleep(0)
        threads.append(threading.current_thread())

    with testing.inline(plain):
        where.enqueue()
        wrapper.enqueue()
    assert threads[0] is threading.current_thread()
    assert threads[1] is not threading.current_thread()
