"""Side by side with a real Ruby Sidekiq on one Redis: each reads, runs and shows what the other wrote."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import redis

from engine.sidekiq.ruby import look, ruby, sidekiq
from engine.worker.jobs_app import LEDGER, STARTED
from engine.worker.running import Worker, values
from stanchion.app import App
from stanchion.job import Job
from stanchion.store import keys
from waiting import until

pytestmark = pytest.mark.ruby

RUBY_START_SECONDS = 30.0


def test_ruby_reads_what_python_enqueued(redis_url: str) -> None:
    app = App(redis_url)
    ready = app.enqueue("EchoJob", [1, {"rows": ["é"]}], queue="ruby", retries=3)
    later = app.enqueue("EchoJob", [2], queue="ruby", delay=60, retries=False)
    seen = look(redis_url)
    [job] = seen["queues"]["ruby"]
    assert (job["class"], job["args"], job["jid"], job["retry"]) == (
        "EchoJob",
        [1, {"rows": ["é"]}],
        ready.jid,
        3,
    )
    assert 0 <= job["latency"] < 60
    [job] = seen["schedule"]
    assert (job["args"], job["jid"], job["retry"]) == ([2], later.jid, False)
    assert job["at"] == pytest.approx(later.until, abs=0.001)


def test_python_reads_what_ruby_pushed(redis_url: str, redis_client: redis.Redis) -> None:
    ruby("echo_job.rb", redis_url)
    [raw] = redis_client.lrange("queue:mail", 0, -1)
    assert isinstance(raw, bytes)
    job = Job.parse(raw)
    assert job.dump() == raw
    assert (job.name, job.args, job.queue, job.retry) == ("note", [7], "mail", 3)
    assert job.fields["tags"] == ["from ruby"]
    assert job.enqueued_at_seconds == pytest.approx(time.time(), abs=60)


def test_a_ruby_worker_runs_a_python_job(redis_url: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    App(redis_url).enqueue("EchoJob", [1, {"rows": []}, None, "é", 2**60], queue="ruby")
    with sidekiq(redis_url, "ruby", tmp_path / "sidekiq.log"):
        until(lambda: redis_client.llen(LEDGER) == 1, timeout_seconds=RUBY_START_SECONDS)
    [done] = redis_client.lrange(LEDGER, 0, -1)
    assert json.loads(done) == [1, {"rows": []}, None, "é", 2**60]


def test_a_python_worker_runs_ruby_jobs_and_those_ruby_scheduled(
    redis_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    ruby("echo_job.rb", redis_url)
    with Worker(redis_url, tmp_path):
        until(lambda: redis_client.llen(LEDGER) == 2)
    assert sorted(values(redis_client, LEDGER)) == [7, 8]


def test_ruby_sees_a_python_worker_its_running_job_and_its_failure(
    redis_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    app = App(redis_url)
    with Worker(redis_url, tmp_path, "-c", "4") as worker:
        app.enqueue("hold", [1], queue="mail")
        failing = app.enqueue("fail", ["no luck"], queue="mail", retries=3)
        until(lambda: redis_client.llen(STARTED) == 1 and redis_client.zcard(keys.RETRY) == 1)
        until(lambda: redis_client.hget(keys.process(worker.identity), "busy") == b"1")
        seen = look(redis_url)
        pid = worker.process.pid
    [process] = seen["processes"]
    assert (process["pid"], process["concurrency"], process["queues"]) == (pid, 4, ["mail"])
    assert (process["busy"], process["stopping"]) == (1, False)
    [job] = seen["retry"]
    assert (job["jid"], job["class"], job["retry_count"]) == (failing.jid, "fail", 0)
    assert (job["error"], job["message"]) == ("RuntimeError", "no luck")
    assert (seen["processed"], seen["failed"]) == (1, 1)
