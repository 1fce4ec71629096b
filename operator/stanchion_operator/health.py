"""The probes and the metrics: /healthz, /readyz, /metrics. Redis being away makes nothing unhealthy.

Healthy means that the event loop turns and that the API server's lists are not too old: a watch that has
gone silent looks like peace and is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from stanchion_operator import metrics

STALE_RESYNCS = 5
"""So many resync periods without a fresh list are too many."""


class Health:
    """What the probes answer, told by `app`."""

    def __init__(self, resync_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._longest_silence_seconds = STALE_RESYNCS * max(resync_seconds, 10.0)
        self._listed_at = clock()
        self.ready = False
        """The caches were filled once: as leader or standing by."""

    def listed(self) -> None:
        """A full list was read just now."""
        self._listed_at = self._clock()
        self.ready = True

    @property
    def silence(self) -> str:
        """Why we are unhealthy; empty if we are not."""
        seconds = self._clock() - self._listed_at
        return (
            f"no list from the API server for {seconds:.0f} s"
            if seconds > self._longest_silence_seconds
            else ""
        )


class Probes:
    """The HTTP server of the probes."""

    def __init__(self, health: Health, host: str, port: int) -> None:
        self._health, self._host, self._port = health, host, port
        routes = web.Application()
        routes.router.add_get("/healthz", self._healthz)
        routes.router.add_get("/readyz", self._readyz)
        routes.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(routes, access_log=None)

    async def start(self) -> int:
        """Serve; returns the port, which matters where 0 was asked for."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        await site.start()
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Stop serving."""
        await self._runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        silence = self._health.silence
        return web.Response(text=silence or "ok", status=503 if silence else 200)

    async def _readyz(self, _: web.Request) -> web.Response:
        ready = self._health.ready
        return web.Response(text="ok" if ready else "not listed yet", status=200 if ready else 503)

    async def _metrics(self, _: web.Request) -> web.Response:
        body = generate_latest(metrics.REGISTRY)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})
