"""The three pages of a worker, as a kubelet and a scraper ask for them."""

from __future__ import annotations

import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from engine.worker.running import Worker
from stanchion.metrics import Tally
from stanchion.worker.health import Health
from waiting import until


def respond(request: bytes, not_ready: str = "") -> tuple[str, bytes]:
    head, _, body = Health(Tally(), lambda: not_ready).respond(request).partition(b"\r\n\r\n")
    return head.split(b"\r\n")[0].decode(), body


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET /healthz HTTP/1.1", "HTTP/1.1 200 OK"),
        (b"GET /readyz?verbose HTTP/1.1", "HTTP/1.1 200 OK"),
        (b"GET /metrics HTTP/1.0", "HTTP/1.1 200 OK"),
        (b"GET / HTTP/1.1", "HTTP/1.1 404 Not Found"),
        (b"POST /healthz HTTP/1.1", "HTTP/1.1 405 Method Not Allowed"),
        (b"nonsense", "HTTP/1.1 405 Method Not Allowed"),
    ],
)
def test_status(request_line: bytes, status: str) -> None:
    assert respond(request_line + b"\r\n\r\n")[0] == status


def test_not_ready_says_why() -> None:
    assert respond(b"GET /readyz HTTP/1.1\r\n\r\n", "quiet") == (
        "HTTP/1.1 503 Service Unavailable",
        b"quiet\n",
    )


def test_head_has_no_body() -> None:
    assert respond(b"HEAD /metrics HTTP/1.1\r\n\r\n") == ("HTTP/1.1 200 OK", b"")


@pytest.mark.redis
def test_a_worker_is_ready_until_it_is_quiet(redis_url: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with Worker(redis_url, tmp_path, "--http", address) as worker:
        until(lambda: status(address, "/readyz") == 200)
        assert status(address, "/healthz") == 200
        until(lambda: b"stanchion_children 1.0" in page(address, "/metrics"))
        worker.process.send_signal(signal.SIGTSTP)
        until(lambda: status(address, "/readyz") == 503)
        assert status(address, "/healthz") == 200


def page(address: str, path: str) -> bytes:
    with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as response:
        body: bytes = response.read()
    return body


def status(address: str, path: str) -> int:
    try:
        page(address, path)
    except urllib.error.HTTPError as error:
        return error.code
    return 200
