"""A job fails on one side and goes on on the other; the schedulers of both work on the same sets."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import redis

from engine.worker.running import Worker
from interop.ledger import PATIENCE_SECONDS, await_ledger, await_one, ledger, make_due, queued
from interop.ruby import Console, RubyWorker
from stanchion.app import App
from stanchion.job import Job
from stanchion.store import keys
from waiting import until

pytestmark = pytest.mark.ruby


def test_a_job_that_fails_in_ruby_succeeds_in_python(
    console: Console, ruby_worker: RubyWorker, start_python: Callable[[], Worker], redis_client: redis.Redis
) -> None:
    jid = console.run("FailsInRuby.perform_async('swim')")
    job = await_one(redis_client, keys.RETRY, jid=jid, retry_count=0)
    assert Job(job).failed_at_seconds == job["failed_at"]
    assert job["error_message"] == "Ruby cannot swim ☃"
    assert ruby_worker.stop() == 0
    start_python()
    make_due(redis_client, keys.RETRY)
    assert await_ledger(redis_client, 1) == [["python", "swim"]]
    assert redis_client.zcard(keys.RETRY) == 0


def test_a_job_that_fails_in_python_succeeds_in_ruby(
    app: App, python_worker: Worker, start_ruby: Callable[[], RubyWorker], redis_client: redis.Redis
) -> None:
    app.enqueue("FailsInPython", ["fly"], queue="mail")
    await_one(redis_client, keys.RETRY, retry_count=0)
    python_worker.kill()
    start_ruby()
    make_due(redis_client, keys.RETRY)
    assert await_ledger(redis_client, 1) == [["ruby", "fly"]]


def test_failures_on_both_sides_are_counted_in_one_row(
    console: Console, ruby_worker: RubyWorker, start_python: Callable[[], Worker], redis_client: redis.Redis
) -> None:
    """Ruby fails first, then Python, whose function takes fewer arguments: the one retry is used up."""
    jid = console.run("FailsInRuby.set(retry: 1).perform_async('swim', 'far')")
    first = await_one(redis_client, keys.RETRY, jid=jid, retry_count=0)
    ruby_worker.stop()
    start_python()
    make_due(redis_client, keys.RETRY)
    buried = await_one(redis_client, keys.DEAD, jid=jid, retry_count=1)
    assert buried["failed_at"] == first["failed_at"]
    assert buried["retried_at"] > first["failed_at"]
    assert "2 argument(s) do not fit" in buried["error_message"]


def test_rubys_api_reads_our_failures(
    console: Console, python_worker: Worker, redis_client: redis.Redis
) -> None:
    console.run("FailsInPython.perform_async('fly')")
    await_one(redis_client, keys.RETRY, retry_count=0)
    entry = "Sidekiq::RetrySet.new.first"
    assert console.run(f"[{entry}.klass, {entry}.item['error_class'], {entry}.item['error_message']]") == [
        "FailsInPython",
        "ValueError",
        "Python cannot fly ☃",
    ]
    assert "interop_app.py" in console.run(f"{entry}.error_backtrace")[0]
    assert console.run(f"Time.now - {entry}.created_at < 60 && {entry}.at > Time.now") is True


def test_ruby_reads_and_retries_what_died_in_python(
    console: Console, app: App, python_worker: Worker, redis_client: redis.Redis
) -> None:
    jid = app.enqueue("FailsInPython", ["fly"], queue="mail", retries=0).jid
    first = await_one(redis_client, keys.DEAD, jid=jid)
    assert console.run("Sidekiq::DeadSet.new.map(&:klass)") == ["FailsInPython"]
    console.run("Sidekiq::DeadSet.new.retry_all")
    until(lambda: await_one(redis_client, keys.DEAD, jid=jid).get("retried_at", 0) > first["failed_at"])


def test_python_runs_what_died_in_ruby(
    console: Console, ruby_worker: RubyWorker, start_python: Callable[[], Worker], redis_client: redis.Redis
) -> None:
    jid = console.run("FailsInRuby.set(retry: 0).perform_async('swim')")
    await_one(redis_client, keys.DEAD, jid=jid)
    ruby_worker.stop()
    start_python()
    console.run("Sidekiq::DeadSet.new.retry_all")
    assert await_ledger(redis_client, 1) == [["python", "swim"]]


def test_a_class_that_only_ruby_knows_waits_for_ruby(
    console: Console, python_worker: Worker, start_ruby: Callable[[], RubyWorker], redis_client: redis.Redis
) -> None:
    jid = console.run("OnlyInRuby.perform_async(1)")
    job = await_one(redis_client, keys.RETRY, jid=jid)
    assert "no job 'OnlyInRuby' is registered" in job["error_message"]
    python_worker.kill()
    start_ruby()
    console.run("Sidekiq::RetrySet.new.retry_all")
    assert await_ledger(redis_client, 1) == [["ruby", 1]]


@pytest.mark.usefixtures("python_worker")
def test_an_active_job_goes_by_its_own_name_and_stays_as_it_is(
    console: Console, redis_client: redis.Redis
) -> None:
    args = [{"job_class": "MailJob", "arguments": [7, {"_aj_symbol_keys": []}], "big": 2**70}]
    wrapper = {"class": "ActiveJob::QueueAdapters::SidekiqAdapter::JobWrapper", "wrapped": "MailJob"}
    pushed = {**wrapper, "queue": "mail", "args": args}
    jid = console.run(f"Sidekiq::Client.push(JSON.parse({json.dumps(json.dumps(pushed))}))")
    job = await_one(redis_client, keys.RETRY, jid=jid, retry_count=0)
    assert "no job 'MailJob' is registered" in job["error_message"]
    assert {name: job[name] for name in pushed} == pushed
    assert console.run("Sidekiq::RetrySet.new.map(&:display_class)") == ["MailJob"]
    console.run("Sidekiq::RetrySet.new.retry_all")
    again = await_one(redis_client, keys.RETRY, jid=jid, retry_count=0)
    assert again["args"] == args


@pytest.mark.usefixtures("python_worker", "ruby_worker")
def test_mixed_workers_and_schedulers_run_each_job_once(
    console: Console, app: App, redis_client: redis.Redis
) -> None:
    """Half at once, half by way of `schedule`, which Ruby's poller and ours empty at the same time."""
    console.run("150.times { |n| Note.perform_async(n); Note.perform_in(1 + n % 5, 1000 + n) }")
    for number in range(150):
        app.enqueue("Note", [2000 + number], queue="mail")
        app.enqueue("Note", [3000 + number], queue="mail", delay=1 + number % 5)
    lines = await_ledger(redis_client, 600)
    expected = [start + number for start in (0, 1000, 2000, 3000) for number in range(150)]
    assert sorted(line[1] for line in lines) == expected
    assert {line[0] for line in lines} == {"ruby", "python"}
    assert (queued(redis_client), redis_client.zcard(keys.SCHEDULE)) == ([], 0)


@pytest.mark.usefixtures("python_worker", "ruby_worker")
def test_racing_for_one_retry_loses_nothing(console: Console, redis_client: redis.Redis) -> None:
    """Whichever side takes a failing job, and whoever makes it due again, it ends where it can."""
    console.run("20.times { FailsInRuby.perform_async('swim') }")

    def all_have_run() -> bool:
        make_due(redis_client, keys.RETRY)
        return len(ledger(redis_client)) == 20

    until(all_have_run, timeout_seconds=PATIENCE_SECONDS)
    assert (redis_client.zcard(keys.RETRY), redis_client.zcard(keys.DEAD)) == (0, 0)
