"""Runs the Ruby side of the tests with Debian's Sidekiq, against the tests' Redis."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def _environment(redis_url: str) -> dict[str, str]:
    return {**os.environ, "REDIS_URL": redis_url}


def ruby(script: str, redis_url: str) -> str:
    """Run one script to its end; returns what it printed."""
    ran = subprocess.run(
        ["ruby", script], cwd=HERE, env=_environment(redis_url), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def look(redis_url: str) -> Any:
    """What Sidekiq's API sees: queues, schedule, retry, processes, counters."""
    return json.loads(ruby("look.rb", redis_url))


@contextmanager
def sidekiq(redis_url: str, queue: str, log: Path) -> Iterator[None]:
    """A Sidekiq process that serves `queue` inside the block."""
    command = ["sidekiq", "-r", "./echo_job.rb", "-q", queue, "-c", "1", "-e", "test"]
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=HERE, env=_environment(redis_url), stdout=out, stderr=subprocess.STDOUT
        )
    try:
        yield
    except BaseException:
        print(log.read_text())
        raise
    finally:
        process.kill()
        process.wait()
