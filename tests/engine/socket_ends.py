"""Socket ends that either side may close at any moment: what the tests' proxies read from and write to."""

from __future__ import annotations

import socket

BUFFER_BYTES = 65_536


def receive(source: socket.socket) -> bytes:
    """What has come; empty once the other side, or another thread, has closed it."""
    try:
        return source.recv(BUFFER_BYTES)
    except OSError:
        return b""


def send(target: socket.socket, data: bytes) -> bool:
    """Whether it could be sent."""
    try:
        target.sendall(data)
    except OSError:
        return False
    return True


def close(end: socket.socket) -> None:
    """Hang up, whether or not the other end was faster."""
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    finally:
        end.close()
