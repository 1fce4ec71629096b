"""Runs calls where they are made instead of sending them: a test sees at once what its code sets going.

As in a worker: arguments travel as JSON, middleware runs, `current_job()` answers, time limits hold. There is
no Redis, no policy and no retry.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import time
from collections.abc import Awaitable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from stanchion import current
from stanchion.app import App
from stanchion.call import Call
from stanchion.definition import JobDefinition
from stanchion.errors import UnknownJob
from stanchion.gate.push import Intent
from stanchion.job import Job
from stanchion.middleware import ServerChain, apply, around
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
        """A plain job runs in the caller's thread, where the test's database transaction is; what needs a
        loop in a thread with one of its own, for there may be one here already.
        """
        intent, job = self._record(call)
        if self._needs_a_loop(job):
            context = contextvars.copy_context()
            with ThreadPoolExecutor(1) as thread:
                outcome = thread.submit(context.run, asyncio.run, self._arun(job)).result()
        else:
            outcome = self._run(job)
        return self._verdict(intent, job, outcome)

    async def apush(self, call: Call) -> Verdict:
        intent, job = self._record(call)
        return self._verdict(intent, job, await self._arun(job))

    def _record(self, call: Call) -> tuple[Intent, Job]:
        intent = Intent.of(call, time.time())
        return intent, Job.parse(apply(self._app.middleware.client_chain, intent.job).dump())

    def _verdict(self, intent: Intent, job: Job, outcome: JobOutcome | None) -> Verdict:
        self.ran.append(Ran(job, outcome))
        return Verdict("enqueued" if intent.due_at is None else "scheduled", job.jid, until=intent.due_at)

    def _needs_a_loop(self, job: Job) -> bool:
        return self._definition(job).is_async or bool(self._chain.on_loop)

    def _run(self, job: Job) -> JobOutcome | None:
        definition = self._definition(job)
        args, kwargs = definition.unbind(job.args)
        stop = StopSignal(lambda: False, definition.declared.timeout_seconds)
        with current.running(job, stop):
            try:
                around(self._chain.in_thread, job, lambda: _finished(definition.function(*args, **kwargs)))()
            except JobOutcome as outcome:
                return outcome
        return None

    async def _arun(self, job: Job) -> JobOutcome | None:
        definition = self._definition(job)
        args, kwargs = definition.unbind(job.args)
        stop = StopSignal(lambda: False, definition.declared.timeout_seconds)
        with ThreadPoolExecutor(1) as threads, current.running(job, stop):
            try:
                await Invocation(definition, job, args, kwargs, self._chain, threads, stop).run()
            except JobOutcome as outcome:
                return outcome
        return None

    @property
    def _chain(self) -> ServerChain:
        return ServerChain.of(self._app.middleware.server_chain)

    def _definition(self, job: Job) -> JobDefinition[Any, Any]:
        definition = self._app.registry.get(job.name)
        if definition is None:
            raise UnknownJob(f"no job {job.name!r} is registered in this App, so it cannot run here")
        return definition

    def push_many(self, calls: Iterable[Call]) -> list[Verdict]:
        return [self.push(call) for call in calls]

    async def apush_many(self, calls: Iterable[Call]) -> list[Verdict]:
        return [await self.apush(call) for call in calls]

    def close(self) -> None:
        """Nothing is open."""

    async def aclose(self) -> None:
        """Nothing is open."""


def _finished(result: object) -> None:
    """A plain wrapper around an async function gives a coroutine: unawaited, its job would not have run."""
    if inspect.isawaitable(result):
        context = contextvars.copy_context()
        with ThreadPoolExecutor(1) as thread:
            thread.submit(context.run, asyncio.run, _awaited(result)).result()


async def _awaited(awaitable: Awaitable[Any]) -> None:
    await awaitable
