"""One job, run to its end in this process: every way it may end becomes an outcome, and nothing escapes."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

import stanchion
from stanchion.app import App
from stanchion.gate.config import ConfigCache, ConfigView
from stanchion.metrics import Tally
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import DeadLimits, QueueConfig
from stanchion.store.recovery import counted_under
from stanchion.store.trip import Ended, Kind, Leased
from stanchion.worker.execute import UNKNOWN, Executor

app = App("redis://127.0.0.1:1/0")
seen: list[Any] = []


class Own(BaseException):
    """Some libraries' errors are no Exceptions."""


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


ERRORS = {
    "exit": SystemExit,
    "interrupt": KeyboardInterrupt,
    "stop": StopIteration,
    "generator": GeneratorExit,
    "value": ValueError,
    "own": Own,
    "mute": Mute,
}


@app.job()
async def on_the_loop(value: int, *, extra: int) -> None:
    seen.append((value, extra, stanchion.current_job().attempt))


@app.job()
def in_a_thread(value: int) -> None:
    current = stanchion.current_job()
    seen.append((value, current.jid, current.queue, current.tenant, current.stopping))


@app.job(retries=2)
def raises(what: str) -> None:
    raise ERRORS[what]


@app.job()
async def raises_on_the_loop(what: str) -> None:
    raise ERRORS[what]


@app.job()
def changes_what_it_was_given(items: list[Any]) -> None:
    items.append(seen.pop())
    raise ValueError


@app.job()
async def waits() -> None:
    await asyncio.sleep(60)


@app.job()
async def cleans_up_badly() -> None:
    try:
        await asyncio.sleep(60)
    finally:
        raise ValueError("the clean-up failed")


class Switch:
    """Whether the worker stops."""

    is_stopping = False

    def __call__(self) -> bool:
        return self.is_stopping


@pytest.fixture
def stopping() -> Switch:
    seen.clear()
    return Switch()


@pytest.fixture
def config() -> ConfigCache:
    return ConfigCache()


@pytest.fixture
def tally() -> Tally:
    return Tally()


@pytest.fixture
def executor(stopping: Switch, config: ConfigCache, tally: Tally) -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as threads:
        yield Executor(app, config, threads, stopping, tally, Random(1))


def leased(name: str, args: list[Any], **fields: Any) -> Leased:
    payload = {"class": name, "jid": "j1", "queue": "default", "args": args, "retry": True, **fields}
    return Leased("3.1", "mail", json.dumps(payload).encode())


def policy(**fields: Any) -> QueueConfig:
    return QueueConfig(Owner("shop", "mail"), "mail", **fields)


def error_of(ended: Ended) -> str:
    return str(json.loads(ended.payload)["error_class"])


async def test_runs_both_kinds_with_their_arguments(executor: Executor) -> None:
    ended = await executor.run(leased("on_the_loop", [7, {"extra": 1}], retry_count=1))
    assert (ended.kind, ended.failed, ended.job_name, ended.queue) == (
        Kind.DONE,
        False,
        "on_the_loop",
        "mail",
    )
    await executor.run(leased("in_a_thread", [8], tenant="acme"))
    assert seen == [(7, 1, 3), (8, "j1", "default", "acme", False)]


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("value", "ValueError"),
        ("exit", "SystemExit"),
        ("interrupt", "KeyboardInterrupt"),
        ("stop", "RuntimeError"),
        ("generator", "RuntimeError"),
        ("own", f"{__name__}.Own"),
        ("mute", f"{__name__}.Mute"),
        ("no such word", "KeyError"),
    ],
)
async def test_whatever_a_job_raises_is_its_failure(what: str, error: str, executor: Executor) -> None:
    ended = await asyncio.wait_for(executor.run(leased("raises", [what])), 5)
    assert (ended.kind, ended.failed, error_of(ended)) == (Kind.RETRY, True, error)


@pytest.mark.parametrize("added", [2, object()])
async def test_a_retry_has_the_arguments_the_job_began_with(added: Any, executor: Executor) -> None:
    """The second one could not even be written."""
    seen.append(added)
    ended = await executor.run(leased("changes_what_it_was_given", [[1]]))
    assert (ended.kind, json.loads(ended.payload)["args"]) == (Kind.RETRY, [[1]])


async def test_a_payload_beyond_the_rules_is_buried_as_it_is(executor: Executor) -> None:
    beyond = leased("raises", ["value"], retry=10**300, retry_count=10**200)
    ended = await executor.run(beyond)
    assert (ended.kind, ended.failed, ended.payload) == (Kind.DEAD, True, beyond.payload)


async def test_an_unknown_job_is_counted_under_one_name(executor: Executor) -> None:
    """Names that nobody registered are unbounded: they are no label."""
    ended = await executor.run(leased("NoSuchJob", []))
    assert (ended.job_name, error_of(ended)) == (UNKNOWN, "stanchion.errors.UnknownJob")


async def test_bytes_that_are_no_job_go_to_dead_and_count_for_no_job(executor: Executor) -> None:
    ended = await executor.run(Leased("3.1", "mail", b"{no json"))
    assert (ended.kind, ended.payload, ended.job_name) == (Kind.DEAD, b"{no json", "")


async def test_a_stop_leaves_a_job_without_an_outcome(executor: Executor, stopping: Switch) -> None:
    task = asyncio.ensure_future(executor.run(leased("waits", [])))
    await asyncio.sleep(0)
    stopping.is_stopping = True
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancel_ends_every_copy_of_a_job_for_good(executor: Executor) -> None:
    """One that was recovered while it ran is here twice; a clean-up that fails brings no retry."""
    copy = leased("cleans_up_badly", [])
    runs = [asyncio.ensure_future(executor.run(one)) for one in (copy, copy._replace(token="3.2"))]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    executor.cancel("j1")
    assert [ended.kind for ended in await asyncio.gather(*runs)] == [Kind.DISCARD, Kind.DISCARD]


async def test_a_filter_that_raises_costs_no_outcome(
    executor: Executor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(record: logging.LogRecord) -> bool:
        raise RuntimeError("no logging today")

    monkeypatch.setattr(logging.getLogger("stanchion.jobs"), "filters", [broken])
    assert (await executor.run(leased("raises", ["value"]))).kind is Kind.RETRY
    assert "no logging today" in capsys.readouterr().err


async def test_the_policys_retries_and_dead_limits_bind(executor: Executor, config: ConfigCache) -> None:
    queues = {
        "mail": policy(max_retries=0, dead=DeadLimits(100, 60)),
        "other": policy(dead=DeadLimits(50, 600)),
    }
    config.view = ConfigView("1", queues)
    ended = await executor.run(leased("raises", ["value"], retry=2))
    assert ended.kind is Kind.DEAD
    assert (ended.dead_jobs, round(ended.score - ended.dead_oldest)) == (100, 600)


@app.job()
def ends_as_told(what: str) -> None:
    raise {
        "retry": stanchion.Retry(60),
        "snooze": stanchion.Snooze(60),
        "discard": stanchion.Discard(),
        "kill": stanchion.Kill("no hope"),
    }[what]


@app.job()
def gives_way() -> None:
    stanchion.current_job().check_stopping()
    seen.append("ran on")


@app.job(
    backoff=lambda count, error: stanchion.Discard(f"{error} at failure {count}"), dead=False, backtrace=1
)
def backs_off() -> None:
    raise ValueError("boom")


@pytest.mark.parametrize(
    ("what", "kind", "failed", "in_seconds"),
    [
        ("retry", Kind.RETRY, True, 60),
        ("snooze", Kind.SNOOZE, False, 60),
        ("discard", Kind.DISCARD, False, None),
        ("kill", Kind.DEAD, True, 0),
    ],
)
async def test_a_job_may_say_how_it_ended(
    what: str, kind: Kind, failed: bool, in_seconds: float | None, executor: Executor
) -> None:
    began = time.time()
    ended = await executor.run(leased("ends_as_told", [what]))
    assert (ended.kind, ended.failed) == (kind, failed)
    if in_seconds is not None:
        assert in_seconds <= ended.score - began < in_seconds + 5


async def test_a_job_that_gives_way_to_a_drain_has_no_outcome(executor: Executor, stopping: Switch) -> None:
    """Its lease stays, and returns to the head of the queue when the process ends."""
    stopping.is_stopping = True
    with pytest.raises(asyncio.CancelledError):
        await executor.run(leased("gives_way", []))
    stopping.is_stopping = False
    assert (await executor.run(leased("gives_way", []))).kind is Kind.DONE
    assert seen == ["ran on"]


async def test_an_expired_job_is_not_run_and_counted(executor: Executor, caplog: Any) -> None:
    ended = await executor.run(leased("gives_way", [], expires_at=time.time() - 1))
    assert (ended.kind, ended.failed, ended.milliseconds, ended.job_name) == (
        Kind.EXPIRED,
        False,
        0,
        "gives_way",
    )
    assert seen == []
    assert "past its expiry" in caplog.text


async def test_the_jobs_back_off_is_asked(executor: Executor) -> None:
    assert (await executor.run(leased("backs_off", []))).kind is Kind.DISCARD


async def test_what_code_declares_holds_for_a_payload_that_does_not_say(executor: Executor) -> None:
    ended = await executor.run(leased("backs_off", [], retry=0))
    assert (ended.kind, ended.failed) == (Kind.DISCARD, True)
    ended = await executor.run(leased("backs_off", [], retry=0, dead=True))
    assert ended.kind is Kind.DEAD
    assert "error_backtrace" in json.loads(ended.payload)


@pytest.mark.parametrize("name", ["raises", "raises_on_the_loop"])
async def test_the_stack_in_the_log_begins_in_the_application(
    name: str, executor: Executor, caplog: pytest.LogCaptureFixture
) -> None:
    await executor.run(leased(name, ["value"]))
    [record] = [record for record in caplog.records if record.exc_info]
    assert record.exc_info is not None
    frames = traceback.extract_tb(record.exc_info[2])
    assert [frame.name for frame in frames] == [name]


async def test_bytes_that_are_no_job_end_under_the_id_their_recoveries_were_counted_by(
    executor: Executor,
) -> None:
    ended = await executor.run(Leased("3.1", "mail", b"{no json"))
    assert ended.jid == counted_under(b"{no json")
