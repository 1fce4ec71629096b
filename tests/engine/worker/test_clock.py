"""A wall clock that steps in either direction declares nobody dead and ends no lease."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis

from engine.worker.jobs_app import LEDGER, RELEASE, STARTED
from engine.worker.running import START_SECONDS, leased, values
from stanchion.app import App
from stanchion.store import keys
from waiting import until

pytestmark = pytest.mark.redis

HERE = Path(__file__).parent
DAY_SECONDS = 86_400.0
BEATS_UNTIL_DEAD = 7
"""Of a hasty worker: longer than it takes to declare somebody dead."""


@contextmanager
def two_workers(redis_url: str, clock: Path, folder: Path) -> Iterator[Path]:
    """They watch each other. Yields their log."""
    paths = [str(HERE / "stepping_clock"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environ = {
        **os.environ,
        "STANCHION_REDIS_URL": redis_url,
        "TEST_CLOCK_FILE": str(clock),
        "PYTHONPATH": os.pathsep.join(paths),
    }
    argv = [sys.executable, str(HERE / "hasty_worker.py"), "jobs_app:app", "mail"]
    path = folder / "workers.log"
    with path.open("ab") as log:
        started = [subprocess.Popen(argv, cwd=HERE, env=environ, stdout=log, stderr=log) for _ in range(2)]
        try:
            yield path
        finally:
            for process in started:
                process.kill()
                process.wait()


def beats(client: redis.Redis) -> dict[bytes, int]:
    found: Any = client.hgetall(keys.BEATS)
    return {identity: int(count) for identity, count in found.items()}


def all_have_beaten(client: redis.Redis, before: dict[bytes, int]) -> bool:
    now = beats(client)
    return all(count >= before[identity] + BEATS_UNTIL_DEAD for identity, count in now.items())


def test_a_clock_that_steps_declares_nobody_dead(
    redis_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    app, clock = App(redis_url), tmp_path / "clock"
    clock.write_text("0")
    for number in range(4):
        app.enqueue("hold", [number], queue="mail")
    with two_workers(redis_url, clock, tmp_path) as log:
        until(lambda: len(beats(redis_client)) == 2, timeout_seconds=START_SECONDS)
        until(lambda: redis_client.llen(STARTED) == 4, timeout_seconds=START_SECONDS)
        for offset in (DAY_SECONDS, -DAY_SECONDS):
            before = beats(redis_client)
            clock.write_text(str(offset))
            until(partial(all_have_beaten, redis_client, before), timeout_seconds=30)
            assert beats(redis_client).keys() == before.keys()
        believed = [float(redis_client.hget(identity, "beat") or 0) for identity in beats(redis_client)]
        assert max(believed) < time.time() - DAY_SECONDS / 2, "the clock was not stepped"
        redis_client.rpush(RELEASE, *range(4))
        until(lambda: redis_client.get(keys.STAT_PROCESSED) == b"4")
        assert sorted(values(redis_client, LEDGER)) == [0, 1, 2, 3]
        assert leased(redis_client) == 0
        assert not redis_client.exists(keys.RECOVERIES)
        assert "is dead" not in log.read_text()
