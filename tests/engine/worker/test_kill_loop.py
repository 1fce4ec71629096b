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
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import redis

from engine.assassin import Assassin, Moment
from engine.places import in_two_places, places
from engine.worker.loss_app import FAILS_EACH, MARKS
from engine.worker.running import Worker
from stanchion.app import App
from stanchion.dev.redis_server import RedisServer
from stanchion.store import keys
from waiting import is_running, until

pytestmark = pytest.mark.redis

LEAST_JOBS = int(os.environ.get("STANCHION_TEST_KILL_LOOP_JOBS", "10000"))
WORKERS = 3
BATCH = LEAST_JOBS // 20
"""Pushed when none is ready, so that workers wait in between."""
LIMIT_SECONDS = 240.0
"""Mostly the start of Python: twenty workers die. It takes a quarter of it on two free cores."""
SAMPLE_SECONDS = 0.25
GAP_SECONDS = 0.4
"""Between two kills, so that work goes on."""
QUIET_SECONDS = 4.0
SPARED = 0.5
"""Share of the chances that are let pass, so that the first to come is not always the one."""
MOMENTS: tuple[Moment, ...] = ("before", "after")
STEPS = (
    *("enlist", "register", "finish_fetch", "beat", "renew", "lead", "promote"),
    *("fence", "recover", "forget", "BLMOVE"),
)
"""Of a child, of its supervisor, of the scheduler that leads and of whoever recovers."""

CUT_STEPS = ("finish_fetch", "beat", "renew", "lead", "promote", "BLMOVE")
"""Of a worker that runs; the others come at a birth or a death."""
CUT_BATCH = 50


class Orders:
    """Who is struck: once before each step, and once after it."""

    def __init__(self, steps: tuple[str, ...]) -> None:
        self.open: set[tuple[str, Moment]] = {(step, when) for step in steps for when in MOMENTS}
        self._rng = Random(7)
        self._lock = threading.Lock()
        self.note_kill()

    def note_kill(self) -> None:
        """The next one waits."""
        self._killed_at = time.monotonic()

    @property
    def is_quiet(self) -> bool:
        """Nobody has come to an open step for a while."""
        return time.monotonic() - self._killed_at > QUIET_SECONDS

    def __call__(self, step: str, pid: int) -> Moment | None:
        with self._lock:
            wanted = [when for when in MOMENTS if (step, when) in self.open]
            is_early = time.monotonic() - self._killed_at < GAP_SECONDS
            if not wanted or is_early or self._rng.random() < SPARED:
                return None
            self.open.remove((step, wanted[0]))
            self.note_kill()
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

    def kill_one(self) -> None:
        """The oldest, and with it its child."""
        self._processes[0].kill()

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


class Ledger:
    """The processes that ran each job to its end, in order. Reads only what was added since the last look."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._lines = 0
        self._ran: defaultdict[str, list[int]] = defaultdict(list)

    def look(self) -> dict[str, list[int]]:
        lines: Any = self._client.lrange(MARKS, self._lines, -1)
        self._lines += len(lines)
        for line in lines:
            jid, pid = line.decode().split()
            self._ran[jid].append(int(pid))
        return self._ran


@pytest.mark.timeout(LIMIT_SECONDS + 60)
def test_no_job_is_lost_whoever_is_killed_between_whichever_commands(
    redis_server: RedisServer, redis_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    orders, scripts = Orders(STEPS), tuple(step for step in STEPS if step.islower())
    with (
        Assassin(tmp_path, redis_server.port, scripts, orders) as assassin,
        fleet(assassin.url, redis_url, tmp_path) as workers,
    ):
        jids = run_jobs(redis_client, App(redis_url), orders, workers)
        buried, ran = places(redis_client), Ledger(redis_client).look()
    assert jids - set(buried) <= set(ran)
    again = [pid for pids in ran.values() for pid in pids[:-1]]
    assert not any(map(is_running, set(again))), "a job ran again although nobody had died with it"
    check_the_counters(redis_client, len(jids) - len(buried))


def run_jobs(client: redis.Redis, app: App, orders: Orders, workers: Fleet) -> set[str]:
    """Push jobs until all orders are done, and look at every jid until all have run. Returns the jids."""
    jids, ledger, deadline = set[str](), Ledger(client), time.monotonic() + LIMIT_SECONDS
    while True:
        held = places(client)
        assert in_two_places(held) == {}
        # A mark comes before its outcome: what is nowhere must have one, and is read after the places.
        assert jids - set(held) <= ledger.look().keys(), "a job is nowhere and has not run"
        is_enough = len(jids) >= LEAST_JOBS and not orders.open
        if not is_enough and [keys.queue("mail")] not in held.values():
            jids |= push(app, range(len(jids), len(jids) + BATCH))
        elif is_enough and all(where == [keys.DEAD] for where in held.values()):
            return jids
        assert time.monotonic() < deadline, f"{len(held)} of {len(jids)} jobs left, {orders.open} not done"
        if orders.open and orders.is_quiet and client.hlen(keys.BEATS) == WORKERS:
            workers.kill_one()  # else nobody would have anybody to recover
            orders.note_kill()
        workers.tend()
        time.sleep(SAMPLE_SECONDS)


def have_run(ledger: Ledger, jids: set[str]) -> bool:
    return ledger.look().keys() == jids


def check_the_counters(client: redis.Redis, done: int) -> None:
    """Every attempt was recorded once."""
    processed, failed = (int(value or 0) for value in client.mget(keys.STAT_PROCESSED, keys.STAT_FAILED))
    assert processed - failed == done
    assert failed <= done / FAILS_EACH + 1


def test_no_job_is_lost_or_runs_twice_whichever_command_loses_its_connection(
    redis_server: RedisServer,
    redis_url: str,
    redis_client: redis.Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before Redis saw the command, and after it was carried out: nobody dies, so nothing may run again."""
    monkeypatch.setenv("TEST_LEDGER_URL", redis_url)
    orders, scripts = Orders(CUT_STEPS), tuple(step for step in CUT_STEPS if step.islower())
    with (
        Assassin(tmp_path, redis_server.port, scripts, orders, is_merciful=True) as cutter,
        Worker(cutter.url, tmp_path, watched_at=redis_url, app="loss_app:app") as worker,
    ):
        app, jids, ledger = App(redis_url), set[str](), Ledger(redis_client)
        while orders.open:
            jids |= push(app, range(len(jids), len(jids) + CUT_BATCH))
            until(partial(have_run, ledger, jids), timeout_seconds=30)
        until(lambda: places(redis_client) == {})
        assert worker.process.poll() is None
        assert all(len(pids) == 1 for pids in ledger.look().values())
    check_the_counters(redis_client, len(jids))
