"""Middleware around jobs, and time limits in them: both kinds of each, on the loop and in threads."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

import stanchion
from stanchion.app import App
from stanchion.gate.config import ConfigCache
from stanchion.job import Job
from stanchion.metrics import TIMED_OUT, Tally
from stanchion.store.trip import Ended, Kind, Leased
from stanchion.worker.execute import Executor

LIMIT_SECONDS = 0.05
seen: list[Any] = []
local: contextvars.ContextVar[str] = contextvars.ContextVar("local", default="unset")
Next = Callable[[], Awaitable[None]]


class Rig:
    """An app, and what runs its jobs here."""

    def __init__(self) -> None:
        self.app = App("redis://127.0.0.1:1/0")
        self.threads = ThreadPoolExecutor(1, thread_name_prefix="job")
        self.tally = Tally()
        self.is_stopping = False
        self.executor: Executor

    async def run(self, name: str, **fields: Any) -> Ended:
        self.executor = executor = Executor(
            self.app, ConfigCache(), self.threads, lambda: self.is_stopping, self.tally, Random(1)
        )
        payload = {"class": name, "jid": "j1", "queue": "mail", "args": [], "retry": True, **fields}
        return await executor.run(Leased("3.1", "mail", json.dumps(payload).encode()))


@pytest.fixture
def rig() -> Iterator[Rig]:
    seen.clear()
    made = Rig()
    with made.threads:
        yield made


def note(what: str) -> None:
    in_thread = threading.current_thread() is not threading.main_thread()
    seen.append(f"{what} {'in a thread' if in_thread else 'on the loop'}")


def declare(rig: Rig) -> None:
    """Two jobs, and two middleware of each kind."""

    @rig.app.job
    async def coroutine() -> None:
        await asyncio.sleep(0)
        note(f"job {local.get()}")

    @rig.app.job
    def plain() -> None:
        note(f"job {local.get()}")

    @rig.app.job
    def wrapper() -> Any:
        return coroutine.function()

    @rig.app.middleware.server
    def inner(job: Job, call_next: Callable[[], None]) -> None:
        local.set("set")
        note(f"inner {stanchion.current_job().jid}")
        call_next()
        note("inner end")

    @rig.app.middleware.server
    async def outer(job: Job, call_next: Next) -> None:
        note(f"outer {job.jid}")
        await call_next()
        note("outer end")


@pytest.mark.parametrize(
    ("name", "place"),
    [("coroutine", "on the loop"), ("plain", "in a thread"), ("wrapper", "on the loop")],
)
async def test_both_kinds_stand_around_both_kinds_the_async_ones_outside(
    name: str, place: str, rig: Rig
) -> None:
    declare(rig)
    assert (await rig.run(name)).kind is Kind.DONE
    assert seen == [
        "outer j1 on the loop",
        "inner j1 in a thread",
        f"job set {place}",
        "inner end in a thread",
        "outer end on the loop",
    ]


@pytest.mark.parametrize("is_async", [True, False])
async def test_what_the_job_raises_passes_the_middleware_and_may_be_changed_there(
    is_async: bool, rig: Rig
) -> None:
    @rig.app.job
    def fails() -> None:
        raise KeyError("gone")

    if is_async:

        @rig.app.middleware.server
        async def on_the_loop(job: Job, call_next: Next) -> None:
            try:
                await call_next()
            except KeyError as error:
                raise stanchion.Discard("no such record") from error

    else:

        @rig.app.middleware.server
        def in_the_thread(job: Job, call_next: Callable[[], None]) -> None:
            try:
                call_next()
            except KeyError as error:
                raise stanchion.Discard("no such record") from error

    assert (await rig.run("fails")).kind is Kind.DISCARD


async def test_a_middleware_that_does_not_go_on_ends_the_job(rig: Rig) -> None:
    declare(rig)

    @rig.app.middleware.server
    async def too_late(job: Job, call_next: Next) -> None:
        raise stanchion.Snooze(5)

    assert (await rig.run("plain")).kind is Kind.SNOOZE
    assert not [line for line in seen if line.startswith("job")]


async def test_a_coroutine_is_cancelled_at_its_limit_and_may_clean_up(rig: Rig) -> None:
    @rig.app.job(timeout_seconds=LIMIT_SECONDS)
    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            seen.append("cleaned up")

    ended = await asyncio.wait_for(rig.run("slow"), 5)
    assert (ended.kind, ended.failed) == (Kind.RETRY, True)
    payload = json.loads(ended.payload)
    assert payload["error_class"] == "stanchion.errors.TimeLimitExceeded"
    assert payload["error_message"] == "the job took longer than its limit of 0.05 s"
    assert seen == ["cleaned up"]
    assert rig.tally.of(TIMED_OUT.name) == {("mail", "slow"): 1}


async def test_a_coroutines_own_timeout_is_its_own(rig: Rig) -> None:
    @rig.app.job(timeout_seconds=60)
    async def hasty() -> None:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(60)

    assert json.loads((await rig.run("hasty")).payload)["error_class"] == "TimeoutError"
    assert not rig.tally.of(TIMED_OUT.name)


async def test_a_thread_that_asks_learns_of_its_limit(rig: Rig) -> None:
    @rig.app.job(timeout_seconds=LIMIT_SECONDS)
    def polite() -> None:
        while True:
            stanchion.current_job().check_stopping()
            time.sleep(0.001)

    payload = json.loads((await asyncio.wait_for(rig.run("polite"), 5)).payload)
    assert payload["error_class"] == "stanchion.errors.TimeLimitExceeded"


async def test_a_thread_that_does_not_ask_keeps_its_slot_and_its_result(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    """To record a failure while it runs would start a second attempt beside it."""

    @rig.app.job(timeout_seconds=LIMIT_SECONDS)
    def deaf() -> None:
        warned.wait(5)

    warned = threading.Event()
    ended = asyncio.ensure_future(rig.run("deaf"))
    async with asyncio.timeout(5):
        while "a thread cannot be stopped" not in caplog.text:  # noqa: ASYNC110 - logging has no event
            await asyncio.sleep(0.01)
    assert not ended.done()
    warned.set()
    assert (await ended).kind is Kind.DONE
    assert rig.tally.of(TIMED_OUT.name) == {("mail", "deaf"): 1}


async def test_a_coroutine_under_plain_middleware_has_a_limit_too(rig: Rig) -> None:
    @rig.app.job(timeout_seconds=LIMIT_SECONDS)
    async def slow() -> None:
        await asyncio.sleep(60)

    @rig.app.middleware.server
    def around(job: Job, call_next: Callable[[], None]) -> None:
        try:
            call_next()
        except stanchion.TimeLimitExceeded:
            seen.append("middleware saw it")
            raise

    assert (await asyncio.wait_for(rig.run("slow"), 5)).kind is Kind.RETRY
    assert seen == ["middleware saw it"]


def pass_on(job: Job, call_next: Callable[[], None]) -> None:
    call_next()


@pytest.mark.parametrize("has_middleware", [True, False])
async def test_a_drain_cancels_a_coroutine_and_lets_it_clean_up(has_middleware: bool, rig: Rig) -> None:
    started = asyncio.Event()

    @rig.app.job
    async def waits() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            seen.append("cleaned up")

    if has_middleware:
        rig.app.middleware.server(pass_on)

    task = asyncio.ensure_future(rig.run("waits"))
    await asyncio.wait_for(started.wait(), 5)
    rig.is_stopping = True
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert seen == ["cleaned up"]


@pytest.mark.parametrize("has_middleware", [True, False])
async def test_a_coroutine_that_is_cancelled_on_request_is_discarded(has_middleware: bool, rig: Rig) -> None:
    started = asyncio.Event()

    @rig.app.job
    async def waits() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            seen.append("cleaned up")

    if has_middleware:
        rig.app.middleware.server(pass_on)

    task = asyncio.ensure_future(rig.run("waits"))
    await asyncio.wait_for(started.wait(), 5)
    rig.executor.cancel("another")
    rig.executor.cancel("j1")
    ended = await asyncio.wait_for(task, 5)
    assert (ended.kind, ended.failed, seen) == (Kind.DISCARD, False, ["cleaned up"])
    rig.executor.cancel("j1")  # too late: it does not run any more


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_job_that_is_cancelled_while_middleware_holds_it_never_begins(
    is_async: bool, rig: Rig
) -> None:
    async def coroutine() -> None:
        note("job")

    def plain() -> None:
        note("job")

    rig.app.job(name="held")(coroutine if is_async else plain)

    @rig.app.middleware.server
    async def holds(job: Job, call_next: Next) -> None:
        rig.executor.cancel(job.jid)
        await call_next()

    assert (await rig.run("held")).kind is Kind.DISCARD
    assert seen == []


async def test_a_thread_that_asks_learns_that_it_was_cancelled(rig: Rig) -> None:
    started = threading.Event()

    @rig.app.job
    def polite() -> None:
        started.set()
        while True:
            stanchion.current_job().check_stopping()
            time.sleep(0.001)

    task = asyncio.ensure_future(rig.run("polite"))
    await asyncio.to_thread(started.wait, 5)
    rig.executor.cancel("j1")
    assert (await asyncio.wait_for(task, 5)).kind is Kind.DISCARD


async def test_no_thread_is_blamed_for_a_coroutine_under_plain_middleware(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    @rig.app.job(queue="mail", timeout_seconds=LIMIT_SECONDS)
    async def slow() -> None:
        await asyncio.sleep(30)

    @rig.app.middleware.server
    def plain(job: Job, call_next: Callable[[], None]) -> None:
        call_next()

    ended = await rig.run("slow")
    assert json.loads(ended.payload)["error_class"] == "stanchion.errors.TimeLimitExceeded"
    assert "a thread cannot be stopped" not in caplog.text
