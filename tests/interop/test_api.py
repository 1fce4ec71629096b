"""Sidekiq's own API sees, counts and commands our workers."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from engine.worker.running import Worker
from interop.interop_app import RELEASE
from interop.ledger import PATIENCE_SECONDS, await_ledger, await_one, started
from interop.ruby import Console, RubyWorker
from stanchion.app import App
from stanchion.store import keys
from waiting import until

pytestmark = pytest.mark.ruby


def test_our_process_is_listed(console: Console, python_worker: Worker) -> None:
    fields = "%w[identity pid concurrency busy queues quiet]"
    (process,) = console.run(f"Sidekiq::ProcessSet.new.map {{ |p| {fields}.map {{ |k| p[k] }} }}")
    pid = python_worker.process.pid
    assert process == [python_worker.identity, pid, 4, 0, ["mail"], "false"]
    assert console.run("Sidekiq::ProcessSet.new.total_concurrency") == 4


def test_our_running_job_is_shown(
    console: Console, app: App, python_worker: Worker, redis_client: redis.Redis
) -> None:
    jid = app.enqueue("Hold", [7], queue="mail").jid
    until(lambda: console.run("Sidekiq::WorkSet.new.to_a"), timeout_seconds=PATIENCE_SECONDS)
    ((identity, _, work),) = console.run("Sidekiq::WorkSet.new.to_a")
    assert identity == python_worker.identity
    assert (work["queue"], work["payload"]["jid"], work["payload"]["class"]) == ("mail", jid, "Hold")
    assert console.run("[Sidekiq::WorkSet.new.size, Sidekiq::Stats.new.workers_size]") == [1, 1]
    redis_client.rpush(RELEASE, 1)
    assert await_ledger(redis_client, 1) == [["python", 7]]


@pytest.mark.usefixtures("redis_client")
def test_queues_and_latency_of_our_jobs(console: Console, app: App) -> None:
    for number in range(3):
        app.enqueue("Note", [number], queue="mail")
    assert console.run("Sidekiq::Queue.all.map { |q| [q.name, q.size] }") == [["mail", 3]]
    assert 0 <= console.run("Sidekiq::Queue.new('mail').latency") < 30


@pytest.mark.usefixtures("python_worker")
def test_attempts_are_counted_once(console: Console, app: App, redis_client: redis.Redis) -> None:
    app.enqueue("Note", [1], queue="mail")
    app.enqueue("FailsInPython", ["fly"], queue="mail")
    app.enqueue("Note", [2], queue="mail", delay=3600)
    await_ledger(redis_client, 1)
    await_one(redis_client, keys.RETRY, retry_count=0)
    until(lambda: redis_client.get(keys.STAT_PROCESSED) == b"2")
    fields = "%w[processed failed enqueued scheduled_size retry_size dead_size]"
    assert console.run(f"{fields}.map {{ |name| Sidekiq::Stats.new.public_send(name) }}") == [
        2,
        1,
        0,
        1,
        1,
        0,
    ]
    history = "Sidekiq::Stats::History.new(2)"
    assert console.run(f"[{history}.processed, {history}.failed].map {{ |days| days.values.sum }}") == [2, 1]


def test_a_live_ruby_process_is_answered_in_its_dialect_and_a_dead_one_vanishes(
    console: Console, python_worker: Worker, ruby_worker: RubyWorker, redis_client: redis.Redis
) -> None:
    """Its record runs out after a minute; here it is taken away, and with it the lock of an earlier look."""
    versions = "Sidekiq::ProcessSet.new(false).map { |process| process['version'] }"
    until(lambda: "6.4.1" in console.run(versions), timeout_seconds=PATIENCE_SECONDS)
    dead = ruby_worker.identity
    ruby_worker.process.kill()
    ruby_worker.process.wait()
    redis_client.delete(dead, keys.PROCESS_CLEANUP)
    identities = "Sidekiq::ProcessSet.new(false).map { |process| process['identity'] }"
    listed = "Sidekiq.redis { |redis| redis.smembers('processes') }"
    until(lambda: console.run(listed) == [python_worker.identity], timeout_seconds=PATIENCE_SECONDS)
    assert console.run(identities) == [python_worker.identity]


def test_what_sidekiq_pro_pauses_is_paused(
    console: Console, app: App, python_worker: Worker, redis_client: redis.Redis
) -> None:
    """Pro writes the flag and tells nobody: it holds from the next heartbeat on."""
    console.run("Sidekiq.redis { |r| r.sadd('paused', 'mail') }")
    _await_beats(redis_client, python_worker, 2)
    app.enqueue("Note", [1], queue="mail")
    _await_beats(redis_client, python_worker, 1)
    assert redis_client.llen(keys.queue("mail")) == 1
    console.run("Sidekiq.redis { |r| r.srem('paused', 'mail') }")
    assert await_ledger(redis_client, 1) == [["python", 1]]


@pytest.mark.usefixtures("python_worker")
def test_quiet_lets_the_running_job_end_and_takes_no_other(
    console: Console, app: App, redis_client: redis.Redis
) -> None:
    app.enqueue("Hold", [1], queue="mail")
    until(lambda: started(redis_client) == [1])
    console.run("Sidekiq::ProcessSet.new.each(&:quiet!)")
    is_quiet = "Sidekiq::ProcessSet.new.map(&:stopping?)"
    until(lambda: console.run(is_quiet) == [True], timeout_seconds=PATIENCE_SECONDS)
    app.enqueue("Note", [2], queue="mail")
    redis_client.rpush(RELEASE, 1)
    assert await_ledger(redis_client, 1) == [["python", 1]]
    assert redis_client.llen(keys.queue("mail")) == 1


def test_stop_ends_the_worker(console: Console, python_worker: Worker) -> None:
    console.run("Sidekiq::ProcessSet.new.each(&:stop!)")
    assert python_worker.process.wait(PATIENCE_SECONDS) == 0
    assert console.run("Sidekiq::ProcessSet.new.size") == 0


def _await_beats(client: redis.Redis, worker: Worker, count: int) -> None:
    """Wait until the worker has beaten `count` times more."""

    def beats() -> int:
        counted: Any = client.hget(keys.BEATS, worker.identity)
        return int(counted)

    first = beats()
    until(lambda: beats() >= first + count, timeout_seconds=PATIENCE_SECONDS)
