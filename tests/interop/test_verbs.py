"""Our verbs on what Ruby wrote, looked at through Sidekiq's own API afterwards."""

from __future__ import annotations

import json
import time

import pytest
import redis

from interop.ruby import Console
from stanchion.cli.main import main
from stanchion.store import keys

pytestmark = pytest.mark.ruby

FAILED = {"class": "Note", "args": [7, {"a": []}], "queue": "mail", "retry": True, "retry_count": 3}
FAILED |= {"error_class": "RuntimeError", "error_message": "boom", "failed_at": 1_796_064_278.5}


@pytest.fixture(autouse=True)
def to_redis(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_REDIS_URL", redis_url)


def ready(console: Console) -> list[list[object]]:
    """Ruby's view of the queue: class, arguments, failures so far."""
    found: list[list[object]] = console.run(
        "Sidekiq::Queue.new('mail').map { |job| [job.klass, job.args, job['retry_count'], job.latency < 60] }"
    )
    return found


def test_a_job_that_ruby_killed_is_retried(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.dumps({**FAILED, "jid": "b" * 24})
    console.run(f"Sidekiq::DeadSet.new.kill({json.dumps(record)}, notify_failure: false)")
    assert main(["dead", "ls"]) == 0
    assert "RuntimeError: boom" in capsys.readouterr().out
    assert main(["dead", "retry", "b" * 24]) == 0
    assert ready(console) == [["Note", [7, {"a": []}], 2, True]]
    assert console.run("Sidekiq::DeadSet.new.size") == 0
    assert main(["why", "b" * 24]) == 0


def test_a_job_that_ruby_scheduled_runs_now(console: Console) -> None:
    jid = console.run(
        "Sidekiq::Client.push('class' => 'Note', 'args' => [1], 'queue' => 'mail', 'at' => Time.now.to_f + 9)"
    )
    assert main(["schedule", "run", jid]) == 0
    assert ready(console) == [["Note", [1], None, True]]
    assert console.run("Sidekiq::ScheduledSet.new.size") == 0


def test_a_job_that_we_kill_is_dead_for_ruby(console: Console, redis_client: redis.Redis) -> None:
    redis_client.zadd(keys.RETRY, {json.dumps({**FAILED, "jid": "a" * 24}): time.time() + 500})
    assert main(["retry", "kill", "--error", "boom", "--yes"]) == 0
    assert console.run("Sidekiq::DeadSet.new.map { |job| [job.jid, job['retry_count']] }") == [["a" * 24, 3]]
    assert console.run("Sidekiq::RetrySet.new.size") == 0
