"""/healthz, /readyz and /metrics of a worker, over the smallest HTTP that serves them.

Started by the supervisor, whose loop runs no jobs: a busy worker still answers. Readiness ignores Redis: an
outage must not take every pod out at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from stanchion.errors import CommandError
from stanchion.metrics import Tally, TallyCollector
from stanchion.worker.options import parse_address

REQUEST_SECONDS = 5.0
TEXT = "text/plain; charset=utf-8"


class Health:
    """The endpoints of one worker. `not_ready` says why it is not ready, or nothing."""

    def __init__(self, tally: Tally, not_ready: Callable[[], str]) -> None:
        self._not_ready = not_ready
        self._registry = CollectorRegistry()
        self._registry.register(TallyCollector(tally))

    async def serve(self, address: str) -> asyncio.Server:
        """Listen on HOST:PORT. Raises CommandError when the address cannot be had."""
        host, port = parse_address(address)
        try:
            return await asyncio.start_server(self._answer, host, port)
        except OSError as error:
            raise CommandError(f"cannot serve HTTP on {address}: {error.strerror or error}") from error

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                request = await reader.readuntil(b"\r\n\r\n")
                writer.write(self.respond(request))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ConnectionError):
            return  # a client that says nothing, too much, or leaves
        finally:
            writer.close()

    def respond(self, request: bytes) -> bytes:
        """The whole answer to a request's head."""
        method, _, rest = request.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        status, kind, body = self._page(path.decode("latin-1"))
        if method not in (b"GET", b"HEAD"):
            status, kind, body = HTTPStatus.METHOD_NOT_ALLOWED, TEXT, b"only GET\n"
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return head.encode() + (b"" if method == b"HEAD" else body)

    def _page(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        match path:
            case "/healthz":
                return HTTPStatus.OK, TEXT, b"ok\n"
            case "/readyz":
                reason = self._not_ready()
                status = HTTPStatus.SERVICE_UNAVAILABLE if reason else HTTPStatus.OK
                return status, TEXT, f"{reason or 'ready'}\n".encode()
            case "/metrics":
                return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(self._registry)
        return HTTPStatus.NOT_FOUND, TEXT, b"try /healthz, /readyz or /metrics\n"
