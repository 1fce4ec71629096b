"""A Unix socket in front of Redis that kills the process at its other end between two of its commands.

The kernel says which process a connection belongs to, so the victim is the one that sends the command:
before Redis sees it, or after Redis has carried it out and before the reply is read. Told to be merciful, it
cuts the connection at that instant and lets the process live.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal

from engine.socket_ends import close, receive, send
from stanchion.store.script import Script

ACCEPT_TIMEOUT_SECONDS = 0.2
COMMAND = re.compile(rb"\*\d+\r\n\$\d+\r\n(\w+)\r\n(?:\$40\r\n([0-9a-f]{40})\r\n)?")

Moment = Literal["before", "after"]
Order = Callable[[str, int], Moment | None]
"""Told the step (a script's name, or a command's) and the process id: whether and when to kill."""


class Assassin:
    """Listens in `folder` and forwards to the Redis at `port`. Use as a context manager."""

    def __init__(
        self, folder: Path, port: int, scripts: tuple[str, ...], order: Order, *, is_merciful: bool = False
    ) -> None:
        self._path = folder / "redis.sock"
        self._port = port
        self._names = {Script(name).sha.encode(): name for name in scripts}
        self._order = order
        self._strike = _spare if is_merciful else _kill
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen(128)
        self._listener.settimeout(ACCEPT_TIMEOUT_SECONDS)
        self._closed = threading.Event()
        self._acceptor = threading.Thread(target=self._accept, daemon=True)

    @property
    def url(self) -> str:
        """Where the victims connect."""
        return f"unix://{self._path}?db=0"

    def __enter__(self) -> Assassin:
        self._acceptor.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._acceptor.join()
        self._listener.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            server = socket.create_connection(("127.0.0.1", self._port))
            link = _Link(client, server, self._step, self._order, self._strike)
            for pump in (link.forward, link.answer):
                threading.Thread(target=pump, daemon=True).start()

    def _step(self, request: bytes) -> str:
        found = COMMAND.match(request)
        if found is None:
            return ""  # the rest of a long command
        command, sha = found.groups()
        return self._names.get(sha, "") if sha else command.decode().upper()


class _Link:
    def __init__(
        self,
        client: socket.socket,
        server: socket.socket,
        step: Callable[[bytes], str],
        order: Order,
        strike: Callable[[int], None],
    ) -> None:
        self._client, self._server = client, server
        self._step, self._order, self._strike = step, order, strike
        self._pid = _peer(client)
        self._dies_after = False

    def forward(self) -> None:
        while request := receive(self._client):
            step = self._step(request)
            moment = self._order(step, self._pid) if step else None
            if moment == "before":
                self._strike(self._pid)
                break
            self._dies_after = moment == "after"
            if not send(self._server, request):
                break
        close(self._client)
        close(self._server)

    def answer(self) -> None:
        while reply := receive(self._server):
            if self._dies_after:
                self._strike(self._pid)
                break
            if not send(self._client, reply):
                break
        close(self._client)


def _peer(client: socket.socket) -> int:
    size = struct.calcsize("3i")
    pid: int = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]
    return pid


def _spare(pid: int) -> None:
    """The cut that follows is all."""


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # somebody was quicker
        os.kill(pid, signal.SIGKILL)
