"""SIGKILL at any instant: what a dead process held comes back, in order, at the head, and soon."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
import redis

from engine.worker.jobs_app import LEDGER, RELEASE, STARTED
from engine.worker.running import Worker, leased, payloads, values, waiting
from stanchion.app import App
from stanchion.store import keys
from stanchion.store.recovery import RETURNS_BEFORE_QUARANTINE
from waiting import is_running, until

pytestmark = pytest.mark.redis

CHILD_BACK_SECONDS = 1.0
WORKER_BACK_SECONDS = 15.0


def test_a_killed_childs_jobs_are_back_within_a_second_and_in_order(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    app = App(redis_url)
    for number in range(6):
        app.enqueue("hold", [number], queue="mail")
    with Worker(redis_url, tmp_path, "-c", "3") as worker:
        until(lambda: redis_client.llen(STARTED) == 3)
        # What woke the child once too often goes back in the trip that follows.
        until(lambda: waiting(redis_client) == [3, 4, 5])
        (child,) = worker.children
        # Pause the queue, so that the successor leaves the order as it is.
        redis_client.sadd(keys.PAUSED, "mail")
        os.kill(child, signal.SIGKILL)
        until(lambda: waiting(redis_client) == [0, 1, 2, 3, 4, 5], timeout_seconds=CHILD_BACK_SECONDS)
        assert redis_client.hvals(keys.RECOVERIES) == [b"1"] * 3


def test_the_successor_runs_one_job_at_a_time_until_the_returned_ones_are_through(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    app = App(redis_url)
    for number in range(5):
        app.enqueue("hold", [number], queue="mail")
    with Worker(redis_url, tmp_path, "-c", "3") as worker:
        until(lambda: redis_client.llen(STARTED) == 3)
        os.kill(worker.children[0], signal.SIGKILL)
        for through in range(3):
            until(lambda through=through: redis_client.llen(STARTED) == 4 + through)  # type: ignore[misc]
            assert leased(redis_client) == 1
            redis_client.rpush(RELEASE, 1)
        until(lambda: leased(redis_client) == 2)
        assert not redis_client.exists(keys.RECOVERIES)
        redis_client.rpush(RELEASE, 1, 1)
        until(lambda: sorted(values(redis_client, LEDGER)) == [0, 1, 2, 3, 4])


@pytest.mark.timeout(180)
def test_a_poison_pill_is_quarantined_and_its_neighbors_run(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    app = App(redis_url)
    pill = app.enqueue("die", [99], queue="mail")
    for number in range(4):
        app.enqueue("note", [number], queue="mail")
    with Worker(redis_url, tmp_path, "-c", "5"):
        until(lambda: redis_client.zcard(keys.DEAD) == 1, timeout_seconds=120)
        (buried,) = payloads(redis_client, keys.DEAD)
        assert buried["jid"] == pill.jid
        assert buried["error_class"] == "stanchion.Quarantined"
        assert redis_client.llen(STARTED) == RETURNS_BEFORE_QUARANTINE + 1
        until(lambda: set(values(redis_client, LEDGER)) == {0, 1, 2, 3})


@pytest.mark.parametrize("job", ["hold", "hog"])
def test_a_killed_workers_jobs_are_back_within_fifteen_seconds_and_in_order(
    job: str, redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    """With default times, and also when a job hogs the child: the kernel ends it with its supervisor."""
    app = App(redis_url)
    with Worker(redis_url, tmp_path, queues=("other",)):
        for number in range(3):
            app.enqueue(job, [number], queue="mail")
        with Worker(redis_url, tmp_path, "-c", "2") as worker:
            until(lambda: redis_client.llen(STARTED) >= 1)
            children = worker.children
            worker.kill()
            until(lambda: not any(map(is_running, children)), timeout_seconds=1)
            until(lambda: waiting(redis_client) == [0, 1, 2], timeout_seconds=WORKER_BACK_SECONDS)
            assert leased(redis_client) == 0
            until(lambda: redis_client.hlen(keys.BEATS) == 1)
            assert redis_client.scard(keys.PROCESSES) == 1


def test_a_burial_that_a_fail_over_forgot_is_made_again(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    """The process lives and beats, so no observer would return what its former child held."""
    payload = json.dumps({"class": "note", "jid": "a" * 24, "args": [1], "queue": "mail"})
    with Worker(redis_url, tmp_path) as worker:
        redis_client.hset(keys.lease("former"), "1.1", f"mail|1|{payload}")
        redis_client.set(keys.trip("former"), "1|1|")
        redis_client.hset(keys.members(worker.identity), "former", json.dumps(["mail"]))
        until(lambda: values(redis_client, LEDGER) == [1])
        assert worker.incarnations != ["former"]
        assert redis_client.get(keys.trip("former")) == b"dead"
