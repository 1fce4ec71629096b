"""One child process: loads the app, makes trips, runs jobs, and reports to its supervisor.

Started by the supervisor as `python -m stanchion.worker.child FD PARENT_PID`. It takes its orders from the
link, not from signals; it must never beat, recover or promote: a job that hogs it would stop that too.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from typing import Any

from stanchion import metrics
from stanchion.app import App
from stanchion.app_loader import load_app
from stanchion.dialect import Dialect
from stanchion.errors import LeaseLost, StanchionError
from stanchion.gate.config import ConfigCache
from stanchion.store import connection
from stanchion.store.trip import Leased
from stanchion.worker import event_loop, exit_codes, log_format, memory, stacks
from stanchion.worker.execute import Executor
from stanchion.worker.link import Link
from stanchion.worker.loaded import Loaded
from stanchion.worker.options import WorkerOptions
from stanchion.worker.parent import die_with
from stanchion.worker.trips import Trips
from stanchion.worker.waits import Waits

REPORT_SECONDS = 0.25
ABORT_GRACE_SECONDS = 1.0
"""What cancelled async jobs get to clean up before the process ends."""

log = logging.getLogger("stanchion.worker")


class Child:
    """One incarnation: its jobs, its trips, and the link to the supervisor."""

    def __init__(
        self, link: Link, app: App, options: WorkerOptions, redis_url: str, incarnation: str
    ) -> None:
        rng = Random()
        self._link = link
        self._tally = metrics.Tally()
        self._config = ConfigCache()
        self._client = connection.connect_async(redis_url, name=f"stanchion-child-{incarnation[:8]}")
        self._waiting = connection.connect_async(
            redis_url, timeout_seconds=None, name=f"stanchion-wait-{incarnation[:8]}"
        )
        self._trips = Trips(self._client, incarnation, options, self._config, self._tally, self._start, rng)
        self._waits = Waits(
            self._waiting, self._client, incarnation, options.queue_names, self._trips.look, rng
        )
        threads = ThreadPoolExecutor(options.concurrency, thread_name_prefix="job")
        self._executor = Executor(app, self._config, threads, lambda: self._is_stopping, self._tally, rng)
        self._executor.dialect = Dialect.of(app.settings.wire)
        self._is_stopping = False
        self._jobs: dict[asyncio.Task[None], tuple[Leased, float]] = {}
        self._reported_work: frozenset[str] | None = None
        self._deadline: asyncio.TimerHandle | None = None

    async def run(self, slots: int, *, is_quiet: bool) -> int:
        """Until drained, or fenced. Returns the exit code."""
        self._trips.slots = slots
        self._trips.is_quiet = is_quiet
        loop = asyncio.get_running_loop()
        trips = loop.create_task(self._trips.run(self._waits))
        helpers = [loop.create_task(self._report()), loop.create_task(self._obey(trips))]
        try:
            await trips
        except asyncio.CancelledError:
            if held := len(self._trips.held):
                log.warning(
                    "%d job(s) did not end or could not be recorded in time; they go back to their queues",
                    held,
                )
                self._trips.warn_of_unrecorded()
        except LeaseLost as error:
            log.error("%s", error)
            self._trips.warn_of_unrecorded()
            return exit_codes.FENCED
        finally:
            for task in helpers:
                task.cancel()
            self._send_report()
            await asyncio.sleep(0)
        return exit_codes.DONE

    def _start(self, leased: Leased) -> None:
        task = asyncio.get_running_loop().create_task(self._run_one(leased))
        self._jobs[task] = (leased, time.time())
        task.add_done_callback(self._jobs.pop)

    async def _run_one(self, leased: Leased) -> None:
        try:
            self._trips.end(await self._executor.run(leased))
        except asyncio.CancelledError:
            self._trips.abandon(leased.token)

    async def _obey(self, trips: asyncio.Task[None]) -> None:
        async for order in self._link.messages():
            match order["do"]:
                case "quiet":
                    self._trips.quiet()
                case "drain":
                    self._drain(order["seconds"], trips)
                case "look":
                    self._trips.look()
                case "slots":
                    self._trips.slots = order["slots"]
                    self._trips.look()
                case "cancel":
                    self._executor.cancel(order["jid"])
                case "speak":
                    self._executor.dialect = Dialect(frozenset(order["majors"]))
                case "dump":
                    stacks.dump()
        os._exit(1)  # the supervisor has gone

    def _drain(self, seconds: float, trips: asyncio.Task[None]) -> None:
        """Quiet, and after `seconds` give up on what still runs. A second order may shorten the time."""
        self._is_stopping = True
        self._trips.finish()
        if self._deadline is not None:
            self._deadline.cancel()
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(seconds, lambda: loop.create_task(self._abort(trips)))

    async def _abort(self, trips: asyncio.Task[None]) -> None:
        """Cancel async jobs, record those that end all the same, leave the rest to be returned."""
        jobs = list(self._jobs)
        for job in jobs:
            job.cancel()
        await asyncio.wait([trips, *jobs], timeout=ABORT_GRACE_SECONDS)
        trips.cancel()

    async def _report(self) -> None:
        while True:
            self._send_report()
            await asyncio.sleep(REPORT_SECONDS)

    def _send_report(self) -> None:
        if self._link.is_choked:
            return
        report: dict[str, Any] = {
            "held": sorted(self._trips.held),
            "answered": self._trips.answered,
            "tally": self._tally.take(),
        }
        tokens = frozenset(leased.token for leased, _ in self._jobs.values())
        if tokens != self._reported_work:
            self._reported_work = tokens
            report["work"] = [
                [leased.token, leased.queue, started, leased.payload.decode(errors="replace")]
                for leased, started in self._jobs.values()
            ]
        self._link.send(report)


async def main(end: socket.socket) -> int:
    """Load the app, hear which incarnation to be, run. Returns the exit code."""
    link = await Link.open(end)
    orders = link.messages()
    start = await anext(orders)
    options = WorkerOptions.load(start["options"])
    try:
        # What the flags say holds for the calls that jobs make, too.
        app = load_app(options.app, redis_url=options.redis_url)
        app.settings = replace(app.settings, wire=options.wire or app.settings.wire)
        redis_url = app.settings.redis_url
        connection.check_url(redis_url)
    except StanchionError as error:
        link.send({"failed": str(error)})
        await link.flush()
        return exit_codes.NOT_LOADED
    # Not sooner: an application that sets up logging finds the root logger bare, and is left alone.
    log_format.set_up(f"child {start['index']}", options)
    memory.give_back()
    link.send({"loaded": Loaded.of(app).dump()})
    begin = await anext(orders, None)
    if begin is None:
        return exit_codes.DONE
    child = Child(link, app, options, redis_url, begin["incarnation"])
    code = await child.run(begin["slots"], is_quiet=begin["quiet"])
    await link.flush()
    return code


def ignore_signals() -> None:
    """Signals to the whole group (Ctrl-C, a service manager's TERM) are the supervisor's to judge.

    A handler that does nothing, not SIG_IGN: the programs a job starts would inherit that.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGTSTP, signal.SIGTTIN):
        signal.signal(number, lambda *_: None)


if __name__ == "__main__":
    ignore_signals()
    die_with(int(sys.argv[2]))
    code = event_loop.run(main(socket.socket(fileno=int(sys.argv[1]))))
    logging.shutdown()
    # Not sys.exit: it would wait for the threads of jobs that did not end in time.
    os._exit(code)
