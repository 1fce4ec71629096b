"""Where an engine is measured: a Redis of its own, its worker, its client, and the file jobs write to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis
from contender import JOBS, PEERS, Contender, Shape

PATIENCE_SECONDS = 300.0
STOP_SECONDS = 15.0
LOOK_SECONDS = 0.01


class Stand:
    """One Redis server and one folder; `clear` before each measurement."""

    def __init__(self, url: str, folder: Path) -> None:
        self.redis: Any = redis.Redis.from_url(url)
        # Every engine is compared without a log on disk: it would cost the one with more writes more.
        self.redis.config_set("appendonly", "no")
        self._url = url
        self._out = folder / "marks"
        self._marks = (0, 0)

    def clear(self, first: int = 0, last: int = 0) -> None:
        """Empty Redis, and forget what jobs wrote. The jobs with these two numbers will write their times."""
        self.redis.flushall()
        self._out.write_text("")
        self._marks = (first, last)

    def push(self, engine: Contender, mode: str, count: int) -> float:
        """Have the engine's client push. Returns the seconds it took, without its start."""
        done = subprocess.run(
            [*engine.client, mode, str(count)],
            cwd=JOBS, env=self._environ(), check=True, capture_output=True, text=True,
        )  # fmt: skip
        seconds: float = json.loads(done.stdout.splitlines()[-1])["seconds"]
        return seconds

    @contextmanager
    def worker(self, engine: Contender, shape: Shape) -> Iterator[list[int]]:
        """The engine's worker, while the block runs. Gives the ids of its processes, less children."""
        running = [
            subprocess.Popen(
                command, cwd=JOBS, env=self._environ(), start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            for command in engine.workers(shape)
        ]  # fmt: skip
        try:
            yield [process.pid for process in running]
        finally:
            for process in running:
                process.send_signal(signal.SIGINT if engine.name == "huey" else signal.SIGTERM)
            for process in running:
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def lines(self) -> list[list[str]]:
        """What the jobs wrote, in words."""
        return [line.split() for line in self._out.read_text().splitlines()]

    def passed(self, number: int) -> float:
        """Wait for a numbered job to pass. Returns when it did, epoch seconds."""
        for lines in self._looks(f"job {number}"):
            for word, moment in lines:
                if word == str(number):
                    return float(moment)
        raise AssertionError

    def written(self, count: int) -> int:
        """Wait until jobs have written so many lines. Returns how many there are."""
        return next(len(lines) for lines in self._looks(f"{count} jobs") if len(lines) >= count)

    def _looks(self, awaited: str) -> Iterator[list[list[str]]]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            yield self.lines()
            time.sleep(LOOK_SECONDS)
        raise TimeoutError(f"{awaited}: not run in {PATIENCE_SECONDS:g} s")

    def redis_cpu_seconds(self) -> float:
        """What the server's main thread has used so far."""
        used = self.redis.info("cpu")
        return float(used["used_cpu_user_main_thread"] + used["used_cpu_sys_main_thread"])

    def _environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "BENCH_REDIS_URL": self._url,
            "STANCHION_REDIS_URL": self._url,
            "BENCH_OUT": str(self._out),
            "BENCH_MARKS": "{},{}".format(*self._marks),
            "BENCH_NODE_HOME": str(PEERS / "bullmq"),
            "PYTHONPATH": str(JOBS),
        }
