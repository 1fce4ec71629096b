"""A Redis that loads its data, is killed and comes back, or is replaced by one that is a moment behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import redis

from engine.places import places
from engine.tcp_proxy import TcpProxy
from engine.worker.jobs_app import LEDGER
from engine.worker.running import Worker, values
from rig.redis_node import RedisNode
from stanchion.app import App
from stanchion.errors import RedisUnavailable
from stanchion.settings import Settings
from stanchion.store import keys
from waiting import until

pytestmark = pytest.mark.redis

LATE_SECONDS = 1.0
JOBS = range(200)


def numbers(client: redis.Redis) -> set[int]:
    return set(values(client, LEDGER))


def push(app: App, jobs: range) -> None:
    app.enqueue_many(app.call("note", [number], queue="mail") for number in jobs)


def test_a_killed_redis_with_a_synced_append_only_file_loses_nothing(
    tmp_path: Path, redis_url: str, redis_client: redis.Redis
) -> None:
    """The jobs' own ledger is in another Redis, so a job that had run and was not recorded may run again."""
    node = RedisNode(tmp_path / "redis", "appendonly yes", "appendfsync always")
    with node, Worker(redis_url, tmp_path, "--redis-url", node.url, watched_at=node.url) as worker:
        push(App(node.url), JOBS)
        until(lambda: len(numbers(redis_client)) > len(JOBS) / 10)
        node.end()
        node.start()
        until(lambda: numbers(redis_client) == set(JOBS), timeout_seconds=30)
        until(lambda: places(node.client) == {}, timeout_seconds=30)
        assert node.client.get(keys.STAT_PROCESSED) == str(len(JOBS)).encode()
        assert worker.process.poll() is None


def test_a_replica_that_was_behind_loses_no_job_it_knew(
    tmp_path: Path, redis_url: str, redis_client: redis.Redis
) -> None:
    """It stops following, work goes on for a moment, and then it takes over."""
    primary = RedisNode(tmp_path / "primary", "repl-diskless-sync-delay 0")
    with (
        primary,
        RedisNode(tmp_path / "replica", f"replicaof 127.0.0.1 {primary.port}") as replica,
        TcpProxy(primary.port) as name,
        Worker(redis_url, tmp_path, "--redis-url", name.url, watched_at=primary.url),
    ):
        push(App(name.url), JOBS)
        until(lambda: len(numbers(redis_client)) > len(JOBS) / 10)
        replica.client.replicaof("NO", "ONE")
        assert places(replica.client)
        push(App(name.url), range(1_000, 1_010))
        until(lambda: len(numbers(redis_client)) > len(JOBS) / 2)
        name.redirect(replica.port)
        primary.end()
        until(lambda: places(replica.client) == {}, timeout_seconds=30)
        assert set(JOBS) <= numbers(redis_client)


def test_a_redis_that_loads_is_waited_for_by_workers_and_named_to_clients(
    tmp_path: Path, redis_url: str, redis_client: redis.Redis
) -> None:
    """Loading takes two seconds here: 10 ms for each of 200 keys."""
    slow = ("key-load-delay 10000", "loading-process-events-interval-bytes 1024", "rdbcompression no")
    node = RedisNode(tmp_path / "redis", *slow)
    with node, Worker(redis_url, tmp_path, "--redis-url", node.url, watched_at=node.url):
        node.client.mset({f"other:{number}": "x" * 1024 for number in range(200)})
        node.client.save()
        node.end()
        node.start()
        begun = time.monotonic()
        app = App(settings=Settings(node.url, client_timeout_seconds=0.5))
        with pytest.raises(RedisUnavailable, match=r"(?i)loading"):
            app.enqueue("note", [1], queue="mail")
        assert time.monotonic() - begun < app.settings.client_timeout_seconds + LATE_SECONDS
        App(node.url).enqueue("note", [2], queue="mail")
        until(lambda: numbers(redis_client) == {2}, timeout_seconds=30)
