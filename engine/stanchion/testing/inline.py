"""Runs calls where they are made instead of sending them: a test sees at once what its code sets going.

As in a worker: arguments travel as JSON, middleware runs, `current_job()` answers, time limits hold. There is
no Redis, no policy and no retry.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from stanchion import current
from stanchion.app import App
from stanchion.call import Call
from stanchion.errors import UnknownJob
from stanchion.gate.push import Intent
from stanchion.job import Job
from stanchion.middleware import ServerChain, apply
from stanchion.outcomes import JobOutcome
from stanchion.verdict import Verdict
from stanchion.worker.invocation import Invocation
from stanchion.worker.stop_signal import StopSignal


@dataclass(frozen=True, slots=True)
class Ran:
    """One job that ran, and the outcome it raised on purpose, if any."""

    job: Job
    outcome: JobOutcome | None


@contextmanager
def inline(app: App) -> Iterator[list[Ran]]:
    """Inside the block each call of this App runs before `enqueue` returns; also one with a delay.

    What ran is appended to the list given, in order of its end. An error of a job is raised to the caller;
    Retry, Snooze, Discard and Kill are not. Raises UnknownJob for a name the App does not have.
    """
    runner = _Inline(app)
    with app.delivered_by(runner):
        yield runner.ran


class _Inline:
    def __init__(self, app: App) -> None:
        self.ran: list[Ran] = []
        self._app = app

    def push(self, call: Call) -> Verdict:
        """In a thread with a loop of its own: there may be one here already, or none."""
        context = contextvars.copy_context()
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(context.run, asyncio.run, self.apush(call)).result()

    async def apush(self, call: Call) -> Verdict:
        intent = Intent.of(call, time.time())
        job = Job.parse(apply(self._app.middleware.client_chain, intent.job).dump())
        self.ran.append(Ran(job, await self._run(job)))
        return Verdict("enqueued" if intent.due_at is None else "scheduled", job.jid, until=intent.due_at)

    async def _run(self, job: Job) -> JobOutcome | None:
        definition = self._app.registry.get(job.name)
        if definition is None:
            raise UnknownJob(f"no job {job.name!r} is registered in this App, so it cannot run here")
        args, kwargs = definition.unbind(job.args)
        chain = ServerChain.of(self._app.middleware.server_chain)
        stop = StopSignal(lambda: False, definition.declared.timeout_seconds)
        with ThreadPoolExecutor(1) as threads, current.running(job, stop):
            try:
                await Invocation(definition, job, args, kwargs, chain, threads, stop).run()
            except JobOutcome as outcome:
                return outcome
        return None

    def push_many(self, calls: Iterable[Call]) -> list[Verdict]:
        return [self.push(call) for call in calls]

    async def apush_many(self, calls: Iterable[Call]) -> list[Verdict]:
        return [await self.apush(call) for call in calls]

    def close(self) -> None:
        """Nothing is open."""

    async def aclose(self) -> None:
        """Nothing is open."""
