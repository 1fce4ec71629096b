"""Real workers for tests: started as a user would, watched through Redis, and never left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

import redis

from stanchion.store import keys
from waiting import is_running, until

APP = "jobs_app:app"
START_SECONDS = 30.0
"""For a Python that imports an app on a machine that is busy with other tests."""


class Worker:
    """`stanchion worker` as a process. Its stderr is in `log`. Use as a context manager.

    `app` is found in the folder `home`.
    `watched_at`: where Redis is seen from here, when the worker reaches it through something else.
    """

    def __init__(
        self,
        redis_url: str,
        folder: Path,
        *flags: str,
        queues: tuple[str, ...] = ("mail",),
        watched_at: str | None = None,
        app: str = APP,
        home: Path = Path(__file__).parent,
    ) -> None:
        self.log = folder / f"worker-{len(list(folder.glob('worker-*')))}.log"
        command = [sys.executable, "-m", "stanchion", "worker", app]
        for queue in queues:
            command += ["-q", queue]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *flags],
                cwd=home,
                env={**os.environ, "STANCHION_REDIS_URL": redis_url},
                stdout=log,
                stderr=log,
            )
        self._client: Any = redis.Redis.from_url(watched_at or redis_url)

    def __enter__(self) -> Worker:
        until(lambda: self.identity, timeout_seconds=START_SECONDS)
        until(self._has_tripped, timeout_seconds=START_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            print(self.log.read_text())
        self.kill()
        self._client.close()

    @property
    def identity(self) -> str:
        """Its name in Redis, once it has one."""
        names = [name.decode() for name in self._client.hkeys(keys.BEATS)]
        return next((name for name in names if f":{self.process.pid}:" in name), "")

    @property
    def incarnations(self) -> list[str]:
        """Its children, as Redis knows them."""
        return [name.decode() for name in self._client.hkeys(keys.members(self.identity))]

    @property
    def children(self) -> list[int]:
        """Process ids of its children."""
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False
        )
        return [int(pid) for pid in found.stdout.split()]

    def term(self) -> None:
        """Ask it to drain."""
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, and with it its children, with SIGKILL; a child left waiting would take the next job."""
        children = self.children
        self.process.kill()
        self.process.wait()
        until(lambda: not any(is_running(pid) for pid in children))

    def _has_tripped(self) -> bool:
        names = self.incarnations
        trips = [self._client.get(keys.trip(name)) for name in names]
        return bool(names) and all(trip and not trip.startswith(b"0|") for trip in trips)


def values(client: redis.Redis, name: str) -> list[int]:
    """The numbers jobs left in a list."""
    return [int(value) for value in client.lrange(name, 0, -1)]


def waiting(client: redis.Redis, queue: str = "mail") -> list[Any]:
    """First arguments of the jobs in a queue, the head first."""
    return [json.loads(payload)["args"][0] for payload in reversed(client.lrange(keys.queue(queue), 0, -1))]


def payloads(client: redis.Redis, set_key: str) -> list[dict[str, Any]]:
    """The jobs in a sorted set, earliest first."""
    members: list[Any] = client.zrange(set_key, 0, -1)
    return [json.loads(member) for member in members]


def leased(client: redis.Redis) -> int:
    """How many jobs are in the hands of any child."""
    return sum(client.hlen(name) for name in client.keys(keys.lease("*")))
