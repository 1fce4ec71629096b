"""Fixtures of a bad network, for every room of the engine."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from engine.tcp_proxy import TcpProxy


@pytest.fixture
def proxy(redis_url: str) -> Iterator[TcpProxy]:
    """A proxy in front of the empty database."""
    with TcpProxy(urlsplit(redis_url).port or 0) as opened:
        yield opened


@pytest.fixture
def silent_url() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


@pytest.fixture
def closed_url() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
