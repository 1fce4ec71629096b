"""The shop of examples/: its producer, its manifests, and both under `stanchion dev`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
import redis

from stanchion.job import Job
from stanchion.store import keys

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(*argv: str, cwd: Path = EXAMPLES, redis_url: str) -> str:
    """Run a command as the example's README gives it; returns what it printed."""
    done = subprocess.run(
        argv,
        cwd=cwd,
        env={**os.environ, "STANCHION_REDIS_URL": redis_url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def payloads(client: redis.Redis, queue: str) -> list[Job]:
    return [Job.parse(cast(bytes, raw)) for raw in client.lrange(keys.queue(queue), 0, -1)]


@pytest.mark.redis
def test_the_producer_fills_both_queues(redis_url: str, redis_client: redis.Redis) -> None:
    printed = run(sys.executable, "-m", "shop.enqueue", "20", redis_url=redis_url)
    assert printed.splitlines()[-1] == "20 of 20 imports accepted"
    assert [job.name for job in payloads(redis_client, "mail")] == ["send_welcome"]
    imports = payloads(redis_client, "imports")
    assert {job.name for job in imports} == {"catalog.import_catalog"}
    assert sorted(job.args[0] for job in imports) == list(range(20))


@pytest.mark.redis
def test_a_producer_for_ruby_needs_no_code_of_the_job(redis_url: str, redis_client: redis.Redis) -> None:
    printed = run(sys.executable, "enqueue.py", cwd=EXAMPLES / "sidekiq", redis_url=redis_url)
    [job] = payloads(redis_client, "imports")
    assert (job.name, job.args) == ("ImportCatalog", [7, [1, 2, 3]])
    assert printed == f"enqueued {job.jid}\n"


@pytest.mark.redis
def test_the_local_runner_works_the_shop_off(redis_url: str, redis_client: redis.Redis) -> None:
    run(sys.executable, "-m", "shop.enqueue", "20", redis_url=redis_url)
    dev = (sys.executable, "-m", "stanchion", "dev", "shop/queues.yaml", "--redis-url", redis_url)
    run(*dev, "--no-live", "--once", redis_url=redis_url)
    for queue, jobs in (("imports", 20), ("mail", 1)):
        assert redis_client.hget(keys.counters(queue), "done") == str(jobs).encode()


def test_the_manifests_fit_the_code() -> None:
    argv = [sys.executable, "-m", "stanchion", "check", "shop/queues.yaml", "--app", "shop.jobs:app"]
    done = subprocess.run(argv, cwd=EXAMPLES, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "shop/queues.yaml: ok, 2 QueuePolicy\n"), done.stderr
