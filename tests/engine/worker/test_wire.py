"""A worker beside Sidekiq 8: what its jobs leave in Redis is 8's, and 8's metrics page finds their runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import redis

from engine.worker.running import Worker, payloads
from stanchion.app import App
from stanchion.dialect import VERSIONS
from stanchion.settings import Settings
from stanchion.store import keys
from waiting import until

pytestmark = pytest.mark.redis


def stated_version(client: redis.Redis, worker: Worker) -> str:
    """The Sidekiq version in the worker's process record."""
    info: Any = client.hget(keys.process(worker.identity), "info")
    return str(json.loads(info)["version"]) if info else ""


def test_a_worker_speaks_as_the_live_ruby_processes_do(
    redis_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    redis_client.sadd(keys.PROCESSES, "ruby:1:a")
    redis_client.hset("ruby:1:a", "info", json.dumps({"hostname": "ruby", "version": "8.1.7", "labels": []}))
    app = App(settings=Settings(redis_url))
    with Worker(redis_url, tmp_path) as worker:
        until(lambda: stated_version(redis_client, worker) == VERSIONS[8])
        app.enqueue("note", [1], queue="mail")
        app.enqueue("fail", ["no luck"], queue="mail", retries=3)
        until(lambda: redis_client.get(keys.STAT_PROCESSED) == b"2")
        worker.term()
        assert worker.process.wait() == 0
    (failed,) = payloads(redis_client, keys.RETRY)
    assert [type(failed[name]) for name in ("created_at", "enqueued_at", "failed_at")] == [int, int, int]
    minutes = [key for key in redis_client.keys("j|*") if 0 < redis_client.ttl(key) <= 8 * 3600]
    (counts,) = (redis_client.hgetall(key) for key in minutes)
    assert (counts[b"note|p"], counts[b"fail|p"], counts[b"fail|f"]) == (b"1", b"1", b"1")
    assert [key[:7] for key in redis_client.keys("h|*")] == [b"h|note-"]
    assert not redis_client.exists(keys.work_of_sidekiq_6(worker.identity))
