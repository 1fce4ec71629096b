"""Runs one job: finds its function, calls it with the payload's arguments, and says how it ended.

Called by the child for each leased job. Async functions run on the loop, plain ones in a thread. It must
never raise for what a job does, and never talk to Redis.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

from stanchion import current
from stanchion.definition import JobDefinition
from stanchion.dialect import SIDEKIQ_7
from stanchion.errors import MalformedPayload, UnknownJob
from stanchion.gate.config import ConfigCache
from stanchion.job import Job
from stanchion.store.trip import Ended, Kind, Leased
from stanchion.worker.outcome import DONE, Failure, Outcome, after_failure, effective_retries, malformed

log = logging.getLogger("stanchion.worker")

UNKNOWN = "unknown"
"""The name under which jobs no App registers are counted: their own names are unbounded."""


class Executor:
    """What every run shares. `is_stopping` is what `current_job().stopping` answers."""

    def __init__(
        self,
        registry: Mapping[str, JobDefinition[Any, Any]],
        config: ConfigCache,
        threads: ThreadPoolExecutor,
        is_stopping: Callable[[], bool],
        rng: Random,
    ) -> None:
        self._registry = registry
        self._config = config
        self._threads = threads
        self._is_stopping = is_stopping
        self._rng = rng
        self.dialect = SIDEKIQ_7
        """How times are written into what failed; the supervisor says when that changes."""

    async def run(self, leased: Leased) -> Ended:
        """Run to the end. Raises CancelledError only when the worker stops: the job then has no outcome."""
        try:
            job = Job.parse(leased.payload)
        except MalformedPayload as problem:
            log.error(
                "queue %s held a payload that is no job; it is in the dead set now: %s", leased.queue, problem
            )
            return self._ended(leased, "", "", malformed(leased.payload, time.time()), 0)
        started = time.monotonic()
        error = await self._attempt(job)
        milliseconds = round((time.monotonic() - started) * 1000)
        outcome = DONE if error is None else self._failed(job, leased.queue, error)
        name = job.name if job.name in self._registry else UNKNOWN
        return self._ended(leased, name, job.jid, outcome, milliseconds)

    async def _attempt(self, job: Job) -> BaseException | None:
        try:
            await self._call(job)
        except asyncio.CancelledError as error:
            if self._is_stopping():
                raise
            return error  # the job cancelled itself: a failure like any other
        except BaseException as error:  # one that escaped would hold its slot and its lease for ever
            return error
        return None

    async def _call(self, job: Job) -> None:
        definition = self._registry.get(job.name)
        if definition is None:
            raise UnknownJob(
                f"no job {job.name!r} is registered in this worker's app: is its JobSet included, "
                "and does this queue belong to this app?"
            )
        args, kwargs = definition.unbind(job.args)
        with current.running(job, self._is_stopping):
            if definition.is_async:
                await definition.function(*args, **kwargs)
                return
            call = functools.partial(_in_thread, definition.function, args, kwargs)
            context = contextvars.copy_context()
            result = await asyncio.get_running_loop().run_in_executor(self._threads, context.run, call)
            if inspect.isawaitable(result):
                # A plain wrapper around an async function: unawaited, the job would count as done, unrun.
                await result

    def _failed(self, job: Job, queue: str, error: BaseException) -> Outcome:
        policy = self._config.view.queue(queue)
        definition = self._registry.get(job.name)
        retries = effective_retries(
            job.retry, definition.retries if definition else None, policy.max_retries if policy else None
        )
        failure = Failure.of(error)
        outcome = after_failure(
            job, queue, failure, retries=retries, now=time.time(), rng=self._rng, dialect=self.dialect
        )
        log.warning(
            "job %s %s failed (%s): %s: %s",
            job.name,
            job.jid,
            outcome.kind,
            failure.error_class,
            failure.message,
            exc_info=error if outcome.kind is not Kind.RETRY else None,
        )
        return outcome

    def _ended(self, leased: Leased, name: str, jid: str, outcome: Outcome, milliseconds: int) -> Ended:
        limits = self._config.view.dead_limits()
        return Ended(
            token=leased.token,
            queue=leased.queue,
            job_name=name,
            jid=jid,
            kind=outcome.kind,
            milliseconds=milliseconds,
            failed=outcome.failed,
            payload=outcome.payload,
            score=outcome.at_seconds,
            dead_oldest=outcome.at_seconds - limits.retention_seconds,
            dead_jobs=limits.max_jobs,
        )


def _in_thread(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:
    """A future cannot carry StopIteration: the job would never end."""
    try:
        return function(*args, **kwargs)
    except StopIteration as error:
        raise RuntimeError("the job raised StopIteration") from error
