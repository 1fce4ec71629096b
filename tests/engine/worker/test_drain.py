"""TERM: what runs may end, what does not in time goes back to the head, and the worker leaves no trace."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
import redis

from engine.worker.jobs_app import LEDGER, RELEASE, STARTED
from engine.worker.running import Worker, values, waiting
from rig.redis_node import RedisNode
from stanchion.app import App
from stanchion.store import keys
from waiting import is_running, until

pytestmark = pytest.mark.redis

GRACE_SECONDS = 5.0
"""What a drain may take beyond its time-out."""


def test_running_jobs_end_and_the_rest_stays(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    app = App(redis_url)
    for number in range(3):
        app.enqueue("hold", [number], queue="mail")
    with Worker(redis_url, tmp_path, "-c", "2") as worker:
        until(lambda: redis_client.llen(STARTED) == 2)
        worker.term()
        until(lambda: "told to stop" in worker.log.read_text())
        redis_client.rpush(RELEASE, 1, 1)
        assert worker.process.wait(timeout=GRACE_SECONDS) == 0
    assert sorted(values(redis_client, LEDGER)) == [0, 1]
    assert waiting(redis_client) == [2]
    _assert_no_trace(redis_client)


@pytest.mark.parametrize("job", ["hold", "hold_in_thread", "hog"])
def test_what_does_not_end_in_time_goes_back_to_the_head(
    job: str, redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    app = App(redis_url)
    for number in range(3):
        app.enqueue(job, [number], queue="mail")
    with Worker(redis_url, tmp_path, "-c", "2", "--drain-timeout-seconds", "1") as worker:
        until(lambda: redis_client.llen(STARTED) >= 1)
        children = worker.children
        begun = time.monotonic()
        worker.term()
        assert worker.process.wait(timeout=20) == 0
        assert time.monotonic() - begun < 1 + GRACE_SECONDS + 1
        assert not any(is_running(child) for child in children)
    assert waiting(redis_client) == [0, 1, 2]
    assert not redis_client.exists(keys.RECOVERIES)
    _assert_no_trace(redis_client)


def test_a_child_that_hangs_in_its_import_holds_up_no_drain(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hang_file = tmp_path / "hang"
    monkeypatch.setenv("TEST_HANG_FILE", str(hang_file))
    with Worker(redis_url, tmp_path, app="hanging_app:app") as worker:
        hang_file.touch()
        os.kill(worker.children[0], signal.SIGKILL)
        until(hang_file.with_suffix(".seen").exists)
        worker.term()
        assert worker.process.wait(timeout=GRACE_SECONDS) == 0


def test_a_job_can_see_that_it_should_end(redis_url: str, tmp_path: Path, redis_client: redis.Redis) -> None:
    App(redis_url).enqueue("hold_until_stopping", [1], queue="mail")
    with Worker(redis_url, tmp_path) as worker:
        until(lambda: redis_client.llen(STARTED) == 1)
        worker.term()
        assert worker.process.wait(timeout=20) == 0
    assert values(redis_client, LEDGER) == [1]


def test_a_second_interrupt_stops_at_once(redis_url: str, tmp_path: Path, redis_client: redis.Redis) -> None:
    App(redis_url).enqueue("hold", [1], queue="mail")
    with Worker(redis_url, tmp_path) as worker:
        until(lambda: redis_client.llen(STARTED) == 1)
        worker.process.send_signal(signal.SIGINT)
        until(lambda: "told to stop" in worker.log.read_text())
        worker.process.send_signal(signal.SIGINT)
        assert worker.process.wait(timeout=GRACE_SECONDS) == 0
    assert waiting(redis_client) == [1]


def test_quiet_takes_no_more_jobs_and_says_so(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    with Worker(redis_url, tmp_path) as worker:
        worker.process.send_signal(signal.SIGTSTP)
        until(lambda: redis_client.hget(keys.process(worker.identity), "quiet") == b"true")
        App(redis_url).enqueue("note", [1], queue="mail")
        until(lambda: _beats(redis_client, worker) > 0)
        before = _beats(redis_client, worker)
        until(lambda: _beats(redis_client, worker) > before + 1)
        assert waiting(redis_client) == [1]


def test_stacks_are_shown_on_request(redis_url: str, tmp_path: Path, redis_client: redis.Redis) -> None:
    App(redis_url).enqueue("hold", [1], queue="mail")
    with Worker(redis_url, tmp_path) as worker:
        until(lambda: redis_client.llen(STARTED) == 1)
        worker.process.send_signal(signal.SIGTTIN)
        until(lambda: "in hold" in worker.log.read_text())


def test_a_dead_redis_holds_up_no_worker_that_has_nothing_to_record(tmp_path: Path) -> None:
    node = RedisNode(tmp_path / "redis")
    with node, Worker(node.url, tmp_path, watched_at=node.url) as worker:
        node.end()
        until(lambda: "recording and fetching jobs failed" in worker.log.read_text())
        worker.term()
        assert worker.process.wait(timeout=GRACE_SECONDS) == 0
        assert "in time" not in worker.log.read_text()


def _beats(client: redis.Redis, worker: Worker) -> int:
    return int(client.hget(keys.BEATS, worker.identity) or 0)


def _assert_no_trace(client: redis.Redis) -> None:
    left = {bytes(name).decode() for name in client.keys("*")}  # type: ignore[arg-type]
    ours = {
        name for name in left if name.startswith(("stanchion:lease", "stanchion:inbox", "stanchion:members"))
    }
    assert ours | (left & {keys.BEATS, keys.PROCESSES, keys.consumers("mail")}) == set()
