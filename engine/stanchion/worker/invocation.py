"""Calls a job's function where its kind runs, with the App's middleware around it.

The executor's hands. Coroutines run on the loop, plain functions in a thread; so do async and plain
middleware, the async ones outside: one job never needs more than one thread. It decides nothing about what
an exception means.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from stanchion.definition import JobDefinition
from stanchion.job import Job
from stanchion.middleware import ServerChain, around
from stanchion.worker.stop_signal import StopSignal

log = logging.getLogger("stanchion.worker")


@dataclass(slots=True)
class Invocation:
    """One call of one job's function."""

    definition: JobDefinition[Any, Any]
    job: Job
    args: list[Any]
    kwargs: dict[str, Any]
    chain: ServerChain
    threads: ThreadPoolExecutor
    stop: StopSignal
    alarm: asyncio.TimerHandle | None = None
    """Goes off when a thread is past the limit."""

    async def run(self) -> None:
        """Call it and see it end. Raises what the job and its middleware raise."""
        is_coroutine = self.definition.is_async and not self.chain.in_thread
        await around(self.chain.on_loop, self.job, self._coroutine if is_coroutine else self._thread)()

    async def _coroutine(self) -> None:
        self.stop.check_cancelled()
        await self.stop.limit(self.definition.function(*self.args, **self.kwargs))

    async def _thread(self) -> None:
        loop = asyncio.get_running_loop()
        if self.stop.limit_seconds is not None:
            self.alarm = loop.call_later(self.stop.limit_seconds, self._warn)
        call = around(self.chain.in_thread, self.job, lambda: self._function(loop))
        context = contextvars.copy_context()
        thread = loop.run_in_executor(self.threads, context.run, _guarded, call)
        try:
            await asyncio.shield(thread)
        except asyncio.CancelledError:
            if self.stop.coroutine is not None and self.stop.coroutine.cancel():
                await asyncio.wait([thread])  # it cleans up, as a coroutine of its own would
            raise
        finally:
            self._disarm()

    def _function(self, loop: asyncio.AbstractEventLoop) -> None:
        """In the thread. A coroutine (of an async job, or of a plain wrapper around an async function) goes
        back to the loop, with this thread's context: unawaited, its job would count as done, unrun.
        """
        self.stop.check_cancelled()
        result = self.definition.function(*self.args, **self.kwargs)
        if inspect.isawaitable(result):
            ended = concurrent.futures.Future[None]()
            loop.call_soon_threadsafe(self._begin, result, ended)
            ended.result()

    def _begin(self, awaitable: Awaitable[Any], ended: concurrent.futures.Future[None]) -> None:
        """On the loop: run it, and tell the thread how it ended."""

        def tell(task: asyncio.Task[None]) -> None:
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            ended.set_result(None) if error is None else ended.set_exception(error)

        self._disarm()  # the loop cancels it at the same limit
        task = self.stop.coroutine = asyncio.get_running_loop().create_task(self.stop.limit(awaitable))
        task.add_done_callback(tell)

    def _disarm(self) -> None:
        if self.alarm is not None:
            self.alarm.cancel()

    def _warn(self) -> None:
        log.warning(
            "past its limit of %g s, but a thread cannot be stopped: it keeps its slot until it returns "
            "(a job that calls current_job().check_stopping() ends by itself)",
            self.stop.limit_seconds,
        )


def _guarded(call: Callable[[], None]) -> None:
    """A future cannot carry StopIteration, and GeneratorExit ends whoever awaits it: no outcome ever came."""
    try:
        call()
    except (StopIteration, GeneratorExit) as error:
        raise RuntimeError(f"the job raised {type(error).__name__}") from error
