"""The Sidekiq of examples/: a Ruby worker runs what a Python producer pushed by name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from stanchion.store import keys
from waiting import until

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "sidekiq"


@pytest.mark.ruby
@pytest.mark.redis
def test_ruby_runs_what_python_pushed(redis_url: str, redis_client: redis.Redis, tmp_path: Path) -> None:
    environment = {**os.environ, "STANCHION_REDIS_URL": redis_url, "REDIS_URL": redis_url}
    subprocess.run([sys.executable, "enqueue.py"], cwd=FOLDER, env=environment, check=True, timeout=30)
    log = tmp_path / "sidekiq.log"
    with log.open("w") as output:
        worker = subprocess.Popen(
            ["sidekiq", "-r", "./worker.rb", "-q", "imports"],
            cwd=FOLDER,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            until(lambda: "imported 3 rows in Ruby" in log.read_text(), timeout_seconds=30)
        finally:
            worker.terminate()
            worker.wait(timeout=30)
    assert redis_client.llen(keys.queue("imports")) == 0
