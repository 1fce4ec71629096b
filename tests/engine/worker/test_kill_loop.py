"""10,000 jobs while whoever handles them is killed before and after every command: none is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import redis

from engine.assassin import Assassin, Moment
from engine.places import in_two_places, places
from engine.worker.loss_app import FAILS_EACH, MARKS
from stanchion.app import App
from stanchion.dev.redis_server import RedisServer
from stanchion.store import keys
from waiting import is_running

pytestmark = pytest.mark.redis

JOBS = int(os.environ.get("STANCHION_TEST_KILL_LOOP_JOBS", "10000"))
WORKERS = 3
BATCH = JOBS // 20
"""Pushed when none is ready, so that workers wait in between."""
LIMIT_SECONDS = 240.0
"""Mostly the start of Python: twenty workers die. It takes a quarter of it on two free cores."""
SAMPLE_SECONDS = 0.25
GAP_SECONDS = 0.4
"""Between two kills, so that work goes on."""
SPARED = 0.5
"""Share of the chances that are let pass, so that the first to come is not always the one."""
MOMENTS: tuple[Moment, ...] = ("before", "after")
STEPS = (
    *("enlist", "register", "finish_fetch", "beat", "renew", "lead", "promote"),
    *("fence", "recover", "forget", "BLMOVE"),
)
"""Of a child, of its supervisor, of the scheduler that leads and of whoever recovers."""


class Orders:
    """Who is killed: once at every step before, and once after it."""

    def __init__(self) -> None:
        self.open: set[tuple[str, Moment]] = {(step, when) for step in STEPS for when in MOMENTS}
        self._rng = Random(7)
        self._lock = threading.Lock()
        self._not_before = 0.0

    def __call__(self, step: str, pid: int) -> Moment | None:
        with self._lock:
            wanted = [when for when in MOMENTS if (step, when) in self.open]
            if not wanted or time.monotonic() < self._not_before or self._rng.random() < SPARED:
                return None
            self.open.remove((step, wanted[0]))
            self._not_before = time.monotonic() + GAP_SECONDS
            return wanted[0]


class Fleet:
    """Workers that are started again when they have been killed."""

    def __init__(self, url: str, ledger_url: str, folder: Path) -> None:
        self._environ = {**os.environ, "STANCHION_REDIS_URL": url, "TEST_LEDGER_URL": ledger_url}
        self._log = (folder / "workers.log").open("ab")
        self._processes: list[subprocess.Popen[bytes]] = []

    def tend(self) -> None:
        """Replace the dead."""
        self._processes = [one for one in self._processes if one.poll() is None]
        while len(self._processes) < WORKERS:
            here = Path(__file__).parent
            argv = [sys.executable, str(here / "hasty_worker.py"), "loss_app:app", "mail"]
            self._processes.append(
                subprocess.Popen(argv, cwd=here, env=self._environ, stdout=self._log, stderr=self._log)
            )

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._log.close()


@contextmanager
def fleet(url: str, ledger_url: str, folder: Path) -> Iterator[Fleet]:
    made = Fleet(url, ledger_url, folder)
    try:
        yield made
    finally:
        made.end()


def push(app: App, numbers: range) -> set[str]:
    """A batch of jobs, each tenth into the schedule."""
    calls = (
        app.call("mark", [number], queue="mail", delay=number % 50 / 10 if number % 10 == 1 else None)
        for number in numbers
    )
    return {verdict.jid for verdict in app.enqueue_many(calls)}


def marks(client: redis.Redis) -> dict[str, list[int]]:
    """The processes that ran each job to its end, in order."""
    ran: defaultdict[str, list[int]] = defaultdict(list)
    lines: Any = client.lrange(MARKS, 0, -1)
    for line in lines:
        jid, pid = line.decode().split()
        ran[jid].append(int(pid))
    return dict(ran)


@pytest.mark.timeout(LIMIT_SECONDS + 60)
def test_no_job_is_lost_whoever_is_killed_between_whichever_commands(
    redis_server: RedisServer, redis_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    app, orders, jids = App(redis_url), Orders(), set[str]()
    scripts = tuple(step for step in STEPS if step.islower())
    deadline = time.monotonic() + LIMIT_SECONDS
    with (
        Assassin(tmp_path, redis_server.port, scripts, orders) as assassin,
        fleet(assassin.url, redis_url, tmp_path) as workers,
    ):
        while True:
            held = places(redis_client)
            assert in_two_places(held) == {}
            # A mark comes before its outcome: what is nowhere must have one, and is read after the places.
            assert jids - set(held) <= set(marks(redis_client)), "a job is nowhere and has not run"
            if len(jids) < JOBS and [keys.queue("mail")] not in held.values():
                jids |= push(app, range(len(jids), len(jids) + BATCH))
            elif len(jids) == JOBS and all(where == [keys.DEAD] for where in held.values()):
                break
            assert time.monotonic() < deadline, (
                f"{len(held)} of {len(jids)} jobs left, {orders.open} not done"
            )
            workers.tend()
            time.sleep(SAMPLE_SECONDS)
        check_that_each_ran(jids, redis_client)
    assert orders.open == set()


def check_that_each_ran(jids: set[str], client: redis.Redis) -> None:
    """At least once; again only where the process that ran it before died with it; recorded once."""
    buried, ran = places(client), marks(client)
    assert jids - set(buried) <= set(ran)
    again = [pid for pids in ran.values() for pid in pids[:-1]]
    assert not any(map(is_running, set(again))), "a job ran again although nobody had died with it"
    processed, failed = (int(value or 0) for value in client.mget(keys.STAT_PROCESSED, keys.STAT_FAILED))
    assert processed - failed == len(jids) - len(buried)
    assert failed <= JOBS / FAILS_EACH
