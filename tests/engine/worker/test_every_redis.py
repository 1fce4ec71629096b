"""One worker through the whole life of its jobs, on the oldest, the newest and the installed Redis.

It and its client come as the user that the documentation tells to create, and are denied nothing.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import redis

from engine.worker.jobs_app import LEDGER, RELEASE, STARTED
from engine.worker.running import Worker, leased, payloads, values, waiting
from rig.redis_versions import every_redis
from stanchion.app import App
from stanchion.store import connection, keys, queues
from waiting import until

pytestmark = [pytest.mark.redis, every_redis]


PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "connect-to-redis.md"


@pytest.fixture
def user_url(redis_url: str, redis_client: redis.Redis) -> Iterator[str]:
    """As the user of the documentation."""
    (line,) = re.findall(r"^ACL (SETUSER stanchion .*)$", PAGE.read_text(), re.MULTILINE)
    redis_client.execute_command("ACL", *line.split())  # type: ignore[no-untyped-call]
    redis_client.acl_log_reset()
    yield redis_url.replace("redis://", "redis://stanchion:secret@")
    redis_client.acl_deluser("stanchion")


def test_a_worker_through_the_whole_life_of_its_jobs(
    redis_url: str, user_url: str, tmp_path: Path, redis_client: redis.Redis
) -> None:
    app = App(user_url)
    with Worker(redis_url, tmp_path, "--redis-url", user_url) as worker:
        app.enqueue("note", [1], queue="mail")
        app.enqueue("note", [2], queue="mail", delay=timedelta(milliseconds=100))
        app.enqueue("fail", ["in retry"], queue="mail")
        until(lambda: sorted(values(redis_client, LEDGER)) == [1, 2])
        until(lambda: redis_client.zcard(keys.RETRY) == 1)
        assert payloads(redis_client, keys.RETRY)[0]["error_message"] == "in retry"

        app.enqueue("hold", [3], queue="mail")
        until(lambda: redis_client.llen(STARTED) == 1)
        with connection.connect(user_url) as user:
            queues.pause(user, ["mail"])
        os.kill(worker.children[0], signal.SIGKILL)
        until(lambda: waiting(redis_client) == [3])
        queues.unpause(redis_client, ["mail"])
        until(lambda: redis_client.llen(STARTED) == 2)
        redis_client.rpush(RELEASE, 1)
        until(lambda: 3 in values(redis_client, LEDGER))

        worker.term()
        assert worker.process.wait(timeout=10) == 0
    assert redis_client.acl_log() == []
    assert leased(redis_client) == 0
    assert not redis_client.exists(keys.BEATS, keys.RECOVERIES)
