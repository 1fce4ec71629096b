"""One side pushes, the other runs: at once, later, in bulk; any argument arrives as it was."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import redis

from engine.worker.running import Worker
from interop.ledger import await_ledger, queued
from interop.ruby import Console, RubyWorker
from stanchion.app import App
from stanchion.job import Job
from stanchion.store import keys

pytestmark = pytest.mark.ruby

ARGUMENTS: list[Any] = [
    "é€😀 \u2028 </script>",
    2**53 + 1,
    -(2**63),
    123456789012345678901234567890,
    0.1,
    1e300,
    None,
    True,
    [],
    {},
    {"b": [{"c": [[]]}], "a": {"": None}},
]


def test_what_ruby_pushes_python_runs(
    console: Console, python_worker: Worker, redis_client: redis.Redis
) -> None:
    console.run(f"Note.perform_async(*JSON.parse({json.dumps(json.dumps(ARGUMENTS))}))")
    assert await_ledger(redis_client, 1) == [["python", *ARGUMENTS]]


def test_what_ruby_schedules_python_runs_when_it_is_due(
    console: Console, python_worker: Worker, redis_client: redis.Redis
) -> None:
    pushed_at = time.time()
    console.run("Note.perform_in(1.5, 7)")
    assert await_ledger(redis_client, 1) == [["python", 7]]
    assert 1.5 <= time.time() - pushed_at < 5


def test_what_ruby_pushes_in_bulk_python_runs(
    console: Console, python_worker: Worker, redis_client: redis.Redis
) -> None:
    jids = console.run("Note.perform_bulk((0...1500).map { |n| [n] })")
    assert len(jids) == 1500
    assert sorted(line[1] for line in await_ledger(redis_client, 1500)) == list(range(1500))


@pytest.mark.parametrize(("ruby", "expected"), [("false", False), ("true", True), ("0", 0), ("7", 7)])
def test_rubys_retry_option_is_read(
    ruby: str, expected: bool | int, console: Console, redis_client: redis.Redis
) -> None:
    console.run(f"Note.set(retry: {ruby}).perform_async")
    raw: Any = redis_client.lindex(keys.queue("mail"), 0)
    retry = Job.parse(raw).retry
    assert retry == expected
    assert type(retry) is type(expected)


def test_our_record_has_the_fields_of_sidekiqs(console: Console, app: App, redis_client: redis.Redis) -> None:
    console.run("Note.perform_async(1)")
    app.enqueue("Note", [1], queue="mail")
    rubys, ours = ({key: type(value) for key, value in job.items()} for job in queued(redis_client))
    assert ours == rubys


def test_what_python_pushes_ruby_runs(app: App, ruby_worker: RubyWorker, redis_client: redis.Redis) -> None:
    app.enqueue("Note", ARGUMENTS, queue="mail")
    assert await_ledger(redis_client, 1) == [["ruby", *ARGUMENTS]]


def test_what_python_schedules_ruby_runs_when_it_is_due(
    app: App, ruby_worker: RubyWorker, redis_client: redis.Redis
) -> None:
    pushed_at = time.time()
    app.enqueue("Note", [7], queue="mail", delay=1.5)
    assert await_ledger(redis_client, 1) == [["ruby", 7]]
    assert time.time() - pushed_at >= 1.5


def test_what_python_pushes_in_bulk_ruby_runs(
    app: App, ruby_worker: RubyWorker, redis_client: redis.Redis
) -> None:
    verdicts = app.enqueue_many(app.call("Note", [number], queue="mail") for number in range(500))
    assert len(verdicts) == 500
    assert sorted(line[1] for line in await_ledger(redis_client, 500)) == list(range(500))
