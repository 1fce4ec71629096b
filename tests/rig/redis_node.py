"""A redis-server with settings of a test's own: another version, TLS, users, a replica, a Sentinel."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path
from types import TracebackType

import redis

from rig import redis_versions
from waiting import until

START_SECONDS = 20.0
DOWN_AFTER_MILLISECONDS = 500


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class RedisNode:
    """One server in `folder`. May be ended and started again on the same port. Use as a context manager.

    `settings` are lines of its configuration.
    """

    def __init__(self, folder: Path, *settings: str, flag: str = "") -> None:
        self.port = free_port()
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._config = folder / "redis.conf"
        lines = ("bind 127.0.0.1", f"port {self.port}", f"dir {folder}", *settings)
        self._config.write_text("\n".join(lines) + "\n")
        self._command = [
            str(redis_versions.binary(redis_versions.ON_PATH)),
            str(self._config),
            *([flag] if flag else []),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients connect without TLS and users."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def client(self) -> redis.Redis:
        """A client of the test's own."""
        return redis.Redis(port=self.port, socket_timeout=5)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start; returns once it takes connections."""
        with (self.folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        until(self._listens, timeout_seconds=START_SECONDS)

    def end(self, number: int = signal.SIGKILL) -> None:
        """End it, without a chance to save unless told otherwise."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(number)
        self._process.wait(START_SECONDS)

    def __enter__(self) -> RedisNode:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def _listens(self) -> bool:
        assert self._process is not None
        log = (self.folder / "redis.log").read_text(errors="replace")
        assert self._process.poll() is None, log[-500:]
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def sentinel(folder: Path, primary: RedisNode) -> RedisNode:
    """A Sentinel, alone enough to decide, that watches a primary under the name `mymaster`."""
    return RedisNode(
        folder,
        f"sentinel monitor mymaster 127.0.0.1 {primary.port} 1",
        f"sentinel down-after-milliseconds mymaster {DOWN_AFTER_MILLISECONDS}",
        "sentinel failover-timeout mymaster 2000",
        flag="--sentinel",
    )
