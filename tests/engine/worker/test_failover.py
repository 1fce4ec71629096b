"""A replica takes over: whoever talks to the demoted or dead server finds the new one; nothing is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.exceptions

from engine.tcp_proxy import TcpProxy
from engine.worker.jobs_app import LEDGER, RELEASE, STARTED
from engine.worker.running import Worker, leased, values
from rig.redis_node import RedisNode, sentinel
from stanchion.app import App
from stanchion.errors import RedisUnavailable
from stanchion.settings import Settings
from waiting import until

pytestmark = pytest.mark.redis

LATE_SECONDS = 1.0
TAKEN_OVER_SECONDS = 20.0
"""For a Sentinel to notice, to vote and to promote, and for a worker to come back."""


@pytest.fixture
def primary(tmp_path: Path) -> Iterator[RedisNode]:
    with RedisNode(tmp_path / "primary", "repl-diskless-sync-delay 0") as node:
        yield node


@pytest.fixture
def replica(tmp_path: Path, primary: RedisNode) -> Iterator[RedisNode]:
    with RedisNode(tmp_path / "replica", f"replicaof 127.0.0.1 {primary.port}") as node:
        until(lambda: replication(node)["master_link_status"] == "up")
        yield node


def replication(node: RedisNode) -> dict[str, Any]:
    found: dict[str, Any] = node.client.info("replication")
    return found


def knows_a_replica(watcher: RedisNode) -> bool:
    known: Any = watcher.client.sentinel_master("mymaster")
    return bool(known["num-slaves"])


def test_sentinels_lead_client_and_worker_to_the_new_primary(
    primary: RedisNode, replica: RedisNode, redis_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    """The jobs' own ledger is in another Redis."""
    with sentinel(tmp_path / "sentinel", primary) as watcher:
        until(lambda: knows_a_replica(watcher))
        url = f"redis+sentinel://127.0.0.1:1,127.0.0.1:{watcher.port}/mymaster/0"
        app = App(url)
        app.enqueue("note", [1], queue="mail")
        flags = ("--redis-url", url)
        with Worker(redis_url, tmp_path, *flags, watched_at=primary.url):
            until(lambda: values(redis_client, LEDGER) == [1])
            app.enqueue("hold", [2], queue="mail")
            until(lambda: redis_client.llen(STARTED) == 1)
            # What was acknowledged and did not reach the replica is lost to any client of Redis.
            until(lambda: leased(replica.client) == 1)
            primary.end()
            until(lambda: replication(replica)["role"] == "master", timeout_seconds=TAKEN_OVER_SECONDS)
            app.enqueue("note", [3], queue="mail")
            redis_client.rpush(RELEASE, 1)
            until(lambda: set(values(redis_client, LEDGER)) == {1, 2, 3}, timeout_seconds=TAKEN_OVER_SECONDS)
            until(lambda: leased(replica.client) == 0)
            assert values(redis_client, LEDGER).count(2) == 1


def test_a_demoted_server_is_left_behind_one_name(
    primary: RedisNode, replica: RedisNode, redis_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    """A name that leads to the new primary, while the old one lives on as a replica and keeps its links."""
    with TcpProxy(primary.port) as name:
        app = App(name.url)
        with Worker(redis_url, tmp_path, "--redis-url", name.url, watched_at=primary.url) as worker:
            app.enqueue("note", [1], queue="mail")
            until(lambda: values(redis_client, LEDGER) == [1])
            name.redirect(replica.port)
            replica.client.replicaof("NO", "ONE")
            primary.client.replicaof("127.0.0.1", replica.port)
            app.enqueue("note", [2], queue="mail")
            until(lambda: 2 in values(redis_client, LEDGER), timeout_seconds=TAKEN_OVER_SECONDS)
            assert worker.process.poll() is None


def test_a_client_learns_within_its_time_out_that_redis_is_read_only(replica: RedisNode) -> None:
    app = App(settings=Settings(replica.url, client_timeout_seconds=1.0))
    begun = time.monotonic()
    with pytest.raises(RedisUnavailable, match=r"READONLY|read only"):
        app.enqueue("note", [1], queue="mail")
    assert time.monotonic() - begun < app.settings.client_timeout_seconds + LATE_SECONDS
