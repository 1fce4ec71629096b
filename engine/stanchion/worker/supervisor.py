"""The supervisor: starts the parts of a worker in order, turns signals into orders, and ends them in reverse.

Called by `stanchion worker`. It runs no job and imports no application: what a job does to its process
never stops the beat.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import signal
from collections.abc import Sequence
from typing import Any

from redis.exceptions import RedisError

from stanchion import metrics
from stanchion.errors import CommandError, LeaseLost
from stanchion.metrics import Tally
from stanchion.store import connection, eviction, membership, recovery
from stanchion.store.ruby_processes import RubyProcesses
from stanchion.worker import announcements, log_format, memory, stacks
from stanchion.worker.backoff import Outage, in_words
from stanchion.worker.crew import Crew
from stanchion.worker.handle import Handle
from stanchion.worker.health import Health
from stanchion.worker.heartbeat import Heartbeat
from stanchion.worker.life import Life
from stanchion.worker.loaded import Loaded
from stanchion.worker.observer import Observer
from stanchion.worker.options import WorkerOptions
from stanchion.worker.scheduler import Scheduler
from stanchion.worker.ticker import Ticker

LEAVE_SECONDS = 2.0
CANCEL_AGAIN_SECONDS = 0.2

log = logging.getLogger("stanchion.worker")


def run(options: WorkerOptions) -> int:
    """Run a worker until it is told to stop. Returns the exit code. Raises CommandError if it can't."""
    log_format.set_up("worker", options)
    memory.give_back()
    return asyncio.run(Supervisor(options).run())


class Supervisor:
    """One worker process: life after life until it is told to stop."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self._tally = Tally()
        self._life: Life | None = None
        self._crew: Crew | None = None
        self._first: Handle | None = None
        self._is_told_to_stop = False
        self._is_quiet = False

    async def run(self) -> int:
        """Returns the exit code."""
        self._hear_signals()
        health = Health(self._tally, self._not_ready)
        server = await health.serve(self._options.http) if self._options.http else None
        self._first = first = await Handle.spawn(self._options, 0)
        try:
            app = await self._loaded(first)
            if app is not None and not self._is_told_to_stop:
                await self._live(app, first)
            while app is not None and not self._is_told_to_stop:
                await self._live(app, None)
        finally:
            first.kill()
            if server is not None:
                server.close()
        log.info("stopped")
        return 0

    async def _loaded(self, first: Handle) -> Loaded | None:
        """What the first child found: the supervisor itself imports no application. None: told to stop."""
        try:
            return await first.loaded()
        except CommandError:
            await first.ended()
            if self._is_told_to_stop:
                return None
            raise

    async def _live(self, app: Loaded, first: Handle | None) -> None:
        """One life: until told to stop, or declared dead."""
        redis_url = app.redis_url
        async with connection.connect_async(redis_url, name="stanchion-supervisor") as client:
            ruby = RubyProcesses(app.wire)
            life = Life(self._options, client, self._tally, ruby=ruby, is_quiet=self._is_quiet)
            crew = Crew(life)
            self._life, self._crew = life, crew
            if not await self._enlist(life, redis_url):
                return
            log.info(
                "%s serves %s with %d x %d slots on %s",
                life.identity,
                ", ".join(self._options.queue_names),
                self._options.processes,
                self._options.concurrency,
                connection.redact(redis_url),
            )
            await self._look_at_eviction(life)
            try:
                await self._work(life, crew, app, first)
            except LeaseLost as error:
                log.error("%s; it begins a new life", error)
                await crew.abandon()
            else:
                await self._leave(life)

    async def _work(self, life: Life, crew: Crew, app: Loaded, first: Handle | None) -> None:
        """Until all places have ended, as they do when told to stop, or another part by an error."""
        places = (crew.keep(place, None if place else first) for place in range(self._options.processes))
        parts = [
            asyncio.ensure_future(part)
            for part in (
                asyncio.gather(*places),
                Heartbeat(life, crew, self._heed).run(),
                Observer(life).run(),
                Scheduler(life).run(),
                Ticker(life, app.periodic).run(),
                announcements.follow(life, crew, app.redis_url),
            )
        ]
        try:
            ended, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end(parts)
        for part in ended:
            part.result()

    async def _enlist(self, life: Life, redis_url: str) -> bool:
        """False if the worker is told to stop before Redis could be reached."""
        outage = Outage(log, f"registering at {connection.redact(redis_url)}", life.rng)
        while not self._is_told_to_stop:
            try:
                await membership.enlist(life.client, life.identity)
            except (RedisError, OSError) as error:
                await outage.wait(error)
                continue
            outage.over()
            return True
        return False

    async def _look_at_eviction(self, life: Life) -> None:
        try:
            danger = await eviction.danger(life.client)
        except (RedisError, OSError) as error:
            log.warning("whether this Redis may evict our keys is unknown: INFO failed (%s)", error)
            return
        life.tally.set(metrics.MAY_EVICT, to=float(bool(danger)))
        if danger:
            log.error("%s", danger)

    async def _leave(self, life: Life) -> None:
        try:
            await asyncio.wait_for(recovery.leave(life.client, life.identity), LEAVE_SECONDS)
        except (RedisError, OSError, TimeoutError) as error:
            log.warning("could not sign off (%s); the others will notice", in_words(error))

    def _not_ready(self) -> str:
        if self._is_quiet or self._is_told_to_stop:
            return "quiet"
        if self._crew is None or not self._crew.is_ready:
            return "starting"
        return ""

    def _hear_signals(self) -> None:
        faulthandler.enable()
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGINT", "SIGTSTP", "SIGTTIN"):
            loop.add_signal_handler(getattr(signal, name), self._heed, name.removeprefix("SIG"))

    def _heed(self, name: str) -> None:
        """A signal, from the system or from Sidekiq's web page."""
        log.info("told to %s", {"TSTP": "be quiet", "TTIN": "show its stacks"}.get(name, "stop"))
        match name:
            case "TERM":
                self._stop()
            case "INT" if self._is_told_to_stop and self._crew is not None:
                self._crew.kill()
            case "INT":
                self._stop()
            case "TSTP":
                self._is_quiet = True
                if self._crew is not None:
                    self._crew.quiet()
            case "TTIN":
                stacks.dump()
                if self._crew is not None:
                    self._crew.dump()

    def _stop(self) -> None:
        self._is_told_to_stop = self._is_quiet = True
        if self._crew is not None:
            self._crew.drain(self._options.drain_timeout_seconds)
        elif self._first is not None:
            self._first.kill()


async def _end(parts: Sequence[asyncio.Future[Any]]) -> None:
    """Cancel until all have ended: a client that is just giving a connection back can swallow one cancel."""
    while pending := [part for part in parts if not part.done()]:
        for part in pending:
            part.cancel()
        await asyncio.wait(pending, timeout=CANCEL_AGAIN_SECONDS)
