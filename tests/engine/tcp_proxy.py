"""A TCP proxy between a client and Redis that loses replies on command, as a broken network would.

A reply is lost after Redis has carried the command out: exactly the case a client cannot tell from a command
that never arrived.
"""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Literal

from engine.socket_ends import close, receive, send

ACCEPT_TIMEOUT_SECONDS = 0.2

Fault = Literal["cut", "swallow"]


class TcpProxy:
    """Listens on a free loopback port and forwards to `port`. Use as a context manager."""

    def __init__(self, port: int) -> None:
        self.lost_replies = 0
        self._upstream = ("127.0.0.1", port)
        self._faults: list[tuple[bytes, Fault]] = []
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(ACCEPT_TIMEOUT_SECONDS)
        self._closed = threading.Event()
        self._acceptor = threading.Thread(target=self._accept, daemon=True)

    @property
    def url(self) -> str:
        """Where a client finds Redis behind this proxy."""
        return f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"

    def lose_replies(self, containing: bytes, count: int = 1, *, fault: Fault = "cut") -> None:
        """Lose the next `count` replies that contain these bytes: cut the connection, or keep it silent."""
        with self._lock:
            self._faults += [(containing, fault)] * count

    def redirect(self, port: int) -> None:
        """Send connections made from now on to another Redis; the open ones stay where they are."""
        self._upstream = ("127.0.0.1", port)

    def __enter__(self) -> TcpProxy:
        self._acceptor.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._acceptor.join()
        self._listener.close()
        for end in self._sockets:
            close(end)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            server = socket.create_connection(self._upstream)
            self._sockets += [client, server]
            threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        _pump(client, server)
        close(server)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        while data := receive(server):
            fault = self._fault_for(data)
            if fault == "cut":
                break
            if fault is None and not send(client, data):
                break
        close(client)

    def _fault_for(self, reply: bytes) -> Fault | None:
        with self._lock:
            for planned in self._faults:
                if planned[0] in reply:
                    self._faults.remove(planned)
                    self.lost_replies += 1
                    return planned[1]
        return None


def _pump(source: socket.socket, target: socket.socket) -> None:
    while data := receive(source):
        if not send(target, data):
            return
