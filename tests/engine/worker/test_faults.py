"""A Redis that loses replies, forgets its scripts, goes away, or forgets everything."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
import redis
import redis.asyncio

from engine.tcp_proxy import TcpProxy
from engine.worker.jobs_app import LEDGER, RELEASE, STARTED
from engine.worker.running import Worker, leased, values, waiting
from stanchion.app import App
from stanchion.dev.redis_server import RedisServer
from stanchion.store import keys, recovery
from waiting import until

pytestmark = pytest.mark.redis

JOBS = range(200)


def test_lost_replies_record_every_outcome_once(
    redis_server: RedisServer, redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    """A cut connection after the script ran: the trip is sent again, and answered from its record."""
    app = App(redis_url)
    with TcpProxy(redis_server.port) as proxy, Worker(proxy.url, tmp_path, watched_at=redis_url) as worker:
        proxy.lose_replies(b'"class":"note"', 8)
        for number in JOBS:
            app.enqueue("note", [number], queue="mail")
        until(lambda: redis_client.get(keys.STAT_PROCESSED) == str(len(JOBS)).encode(), timeout_seconds=60)
        until(lambda: leased(redis_client) == 0)
        assert proxy.lost_replies > 0
        assert Counter(values(redis_client, LEDGER)) == Counter(JOBS)
        assert worker.process.poll() is None


def test_forgotten_scripts_are_loaded_again(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    app = App(redis_url)
    with Worker(redis_url, tmp_path):
        for number in range(5):
            redis_client.script_flush()
            app.enqueue("note", [number], queue="mail")
        until(lambda: sorted(values(redis_client, LEDGER)) == [0, 1, 2, 3, 4])


def test_children_keep_what_they_hold_while_redis_is_away(
    tmp_path: Path, redis_url: str, redis_client: redis.Redis
) -> None:
    """The queues' Redis stops and returns with its data; the job's own Redis is another one."""
    folder = tmp_path / "redis"
    folder.mkdir()
    with RedisServer(folder) as server:
        port, client = server.port, redis.Redis.from_url(server.url)
        App(server.url).enqueue("hold", [1], queue="mail")
        flags = ("--redis-url", server.url)
        with Worker(redis_url, tmp_path, *flags, watched_at=server.url) as worker:
            until(lambda: redis_client.llen(STARTED) == 1)
            child = worker.children
            client.save()
            server.stop()
            redis_client.rpush(RELEASE, 1)
            until(lambda: values(redis_client, LEDGER) == [1])
            until(lambda: "trying again" in worker.log.read_text())
            with RedisServer(folder, port=port):
                until(lambda: client.get(keys.STAT_PROCESSED) == b"1", timeout_seconds=20)
                until(lambda: leased(client) == 0)
            assert worker.children == child
            assert len(worker.log.read_text().splitlines()) < 60


@pytest.mark.timeout(180)
def test_a_process_that_was_declared_dead_begins_a_new_life(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    """The whole process tree stands still for longer than T; its job runs elsewhere meanwhile."""
    app = App(redis_url)
    app.enqueue("hold", [1], queue="mail")
    with Worker(redis_url, tmp_path) as frozen:
        until(lambda: redis_client.llen(STARTED) == 1)
        identity, tree = frozen.identity, [frozen.process.pid, *frozen.children]
        for pid in tree:
            os.kill(pid, signal.SIGSTOP)
        with Worker(redis_url, tmp_path, queues=("other",)):
            until(lambda: waiting(redis_client) == [1], timeout_seconds=15)
            # Its beat goes last: one that wakes between the two is alive after all and keeps its name.
            until(lambda: not redis_client.hexists(keys.BEATS, identity))
            for pid in tree:
                os.kill(pid, signal.SIGCONT)
            until(lambda: frozen.identity not in ("", identity))
            until(lambda: redis_client.llen(STARTED) == 2, timeout_seconds=20)
            redis_client.rpush(RELEASE, 1, 1)
            until(lambda: redis_client.get(keys.STAT_PROCESSED) == b"1")
    assert redis_client.zcard(keys.RETRY) == 0


async def test_a_process_that_wakes_half_way_through_its_recovery_keeps_its_name(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis, aredis: redis.asyncio.Redis
) -> None:
    """Its job was returned, its beat not yet removed: only the fenced child is replaced."""
    await App(redis_url).aenqueue("hold", [1], queue="mail")
    with Worker(redis_url, tmp_path) as frozen:
        until(lambda: redis_client.llen(STARTED) == 1)
        identity, tree = frozen.identity, [frozen.process.pid, *frozen.children]
        for pid in tree:
            os.kill(pid, signal.SIGSTOP)
        beat = (await recovery.beats(aredis))[identity]
        for member in await recovery.members(aredis, identity, beat):
            await recovery.retire(aredis, member, counted=True, now=time.time())
        for pid in tree:
            os.kill(pid, signal.SIGCONT)
        until(lambda: redis_client.llen(STARTED) == 2, timeout_seconds=20)
        redis_client.rpush(RELEASE, 1, 1)
        until(lambda: redis_client.get(keys.STAT_PROCESSED) == b"1")
        assert frozen.identity == identity


def test_a_flushed_redis_is_registered_with_again(
    redis_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    with Worker(redis_url, tmp_path) as worker:
        redis_client.flushall()
        until(lambda: worker.identity, timeout_seconds=20)
        App(redis_url).enqueue("note", [1], queue="mail")
        until(lambda: values(redis_client, LEDGER) == [1], timeout_seconds=20)
        begun = time.monotonic()
        worker.term()
        assert worker.process.wait(timeout=10) == 0
        assert time.monotonic() - begun < 10
