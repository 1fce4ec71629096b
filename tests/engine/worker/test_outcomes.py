"""Every way a job may end, with a real worker: where the job lies then, what is counted, what is logged."""

from __future__ import annotations

import json
import socket
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from engine.worker.outcomes_app import LEDGER, STARTED
from engine.worker.running import Worker, payloads
from stanchion.app import App
from stanchion.cli.main import main
from stanchion.store import keys
from waiting import until

pytestmark = pytest.mark.redis

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture
def address() -> str:
    return f"127.0.0.1:{free_port()}"


@pytest.fixture
def worker(redis_url: str, tmp_path: Path, address: str) -> Iterator[Worker]:
    flags = ("--log-format", "json", "--http", address)
    with Worker(redis_url, tmp_path, *flags, app="outcomes_app:app") as running:
        yield running


@pytest.fixture
def app(redis_url: str) -> App:
    """A producer without the code, that signs as the worker's app does."""
    made = App(redis_url)
    made.middleware.client(lambda job: job.replace(signed_by="test"))
    return made


def job_lines(worker: Worker) -> dict[str, dict[str, Any]]:
    """The last line of each job."""
    lines = [json.loads(line) for line in worker.log.read_text().splitlines()]
    return {line["jid"]: line for line in lines if "outcome" in line}


def test_each_end_has_its_place_its_count_and_its_line(
    app: App, worker: Worker, address: str, redis_client: redis.Redis, redis_url: str
) -> None:
    for what in ("retry", "discard", "kill"):
        app.enqueue("end", [what], queue="mail", jid=what, tenant="acme")
    app.enqueue("slow", queue="mail", jid="slow")
    app.enqueue("snooze_once", queue="mail", jid="snooze")
    app.enqueue("expire", queue="mail", jid="expire", expires_in=0.000001)
    app.enqueue("parent", queue="mail", jid="parent", traceparent=TRACE)
    App(redis_url).enqueue("end", ["unsigned"], queue="mail", jid="unsigned")
    until(lambda: redis_client.get(keys.STAT_PROCESSED) == b"10")  # the snoozed one twice, and the child

    assert {entry["jid"]: entry["error_message"] for entry in payloads(redis_client, keys.DEAD)} == {
        "kill": "no hope",
        "unsigned": "not signed",
    }
    retrying: Any = redis_client.zrange(keys.RETRY, 0, -1, withscores=True)
    (first, soon), (second, late) = [(json.loads(member), score) for member, score in retrying]
    assert (first["jid"], first["error_message"], first["retry_count"]) == ("retry", "busy", 0)
    assert (second["jid"], second["error_class"]) == ("slow", "stanchion.errors.TimeLimitExceeded")
    assert (round((soon - time.time()) / 60), round((late - time.time()) / 60)) == (60, 120)
    assert sorted(redis_client.lrange(LEDGER, 0, -1)) == [b"snoozed 1 attempt 1", f"trace {TRACE}".encode()]
    assert redis_client.get(keys.STAT_FAILED) == b"4"

    def metrics() -> str:
        with urllib.request.urlopen(f"http://{address}/metrics") as page:
            return str(page.read().decode())

    counted = [
        f'stanchion_jobs_total{{job="{job}",outcome="{outcome}",queue="mail"}} 1.0'
        for outcome, job in (("snooze", "snooze_once"), ("expired", "expire"), ("discard", "end"))
    ]
    until(lambda: all(series in metrics() for series in counted))
    assert 'stanchion_jobs_timed_out_total{job="slow",queue="mail"} 1.0' in metrics()

    lines = job_lines(worker)
    assert {jid: line["outcome"] for jid, line in lines.items() if len(jid) < 20} == {
        "retry": "retry",
        "discard": "discard",
        "kill": "dead",
        "slow": "retry",
        "snooze": "done",
        "expire": "expired",
        "parent": "done",
        "unsigned": "dead",
    }
    assert (lines["kill"]["job"], lines["kill"]["queue"], lines["kill"]["tenant"]) == ("end", "mail", "acme")
    assert lines["slow"]["elapsed_ms"] >= 100
    assert "TimeLimitExceeded" in lines["slow"]["message"]


def test_a_running_job_is_cancelled_from_the_command_line(
    app: App,
    worker: Worker,
    redis_client: redis.Redis,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("STANCHION_REDIS_URL", redis_url)
    app.enqueue("give_way", queue="mail", jid="runs")
    app.enqueue("give_way", queue="mail", jid="waits", delay=3600)
    until(lambda: redis_client.llen(STARTED) == 1)
    assert main(["job", "cancel", "runs", "waits", "nowhere"]) == 1
    printed = capsys.readouterr()
    assert printed.out == "runs asked to end\n"
    assert "waits: it does not run; remove it with: stanchion job delete waits" in printed.err
    assert "nowhere" in printed.err
    until(lambda: redis_client.get(keys.STAT_PROCESSED) == b"1")
    assert job_lines(worker)["runs"]["outcome"] == "discard"
    assert not redis_client.exists(keys.RETRY, keys.DEAD, keys.STAT_FAILED)


def test_a_job_that_gives_way_to_a_drain_is_back_at_the_head_and_has_not_failed(
    app: App, worker: Worker, redis_client: redis.Redis
) -> None:
    app.enqueue("give_way", queue="mail", jid="first")
    until(lambda: redis_client.llen(STARTED) == 1)
    until(lambda: redis_client.hlen(keys.work(worker.identity)) == 1)
    [work] = redis_client.hvals(keys.work(worker.identity))
    before = json.loads(work)["payload"]
    worker.term()
    assert worker.process.wait(timeout=15) == 0
    assert redis_client.lrange(keys.queue("mail"), 0, -1) == [before.encode()]
    assert not redis_client.exists(keys.RETRY, keys.DEAD, keys.STAT_FAILED, keys.RECOVERIES)
