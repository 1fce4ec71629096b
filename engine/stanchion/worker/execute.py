"""Runs one job: finds its function, calls it with the payload's arguments, and says how it ended.

Called by the child for each leased job. It must never raise for what a job does, and never talk to Redis.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

from stanchion import current, metrics
from stanchion.app import App
from stanchion.definition import JobDefinition
from stanchion.dialect import SIDEKIQ_7
from stanchion.errors import MalformedPayload, UnknownJob
from stanchion.gate.config import ConfigCache
from stanchion.job import Job
from stanchion.job_options import JobOptions
from stanchion.middleware import ServerChain
from stanchion.outcomes import Interrupted
from stanchion.store.recovery import counted_under
from stanchion.store.trip import Ended, Kind, Leased
from stanchion.worker import job_log, retry_delay
from stanchion.worker.failure import without_our_frames
from stanchion.worker.invocation import Invocation
from stanchion.worker.outcome import (
    DONE,
    EXPIRED,
    Attempt,
    Outcome,
    effective_retries,
    is_expired,
    malformed,
    outcome_of,
    with_declared,
)
from stanchion.worker.stop_signal import StopSignal

log = logging.getLogger("stanchion.worker")

UNKNOWN = "unknown"
"""The name under which jobs no App registers are counted: their own names are unbounded."""
NOTHING_DECLARED = JobOptions()


class Executor:
    """What every run shares. `is_stopping` tells whether the worker drains."""

    def __init__(
        self,
        app: App,
        config: ConfigCache,
        threads: ThreadPoolExecutor,
        is_stopping: Callable[[], bool],
        tally: metrics.Tally,
        rng: Random,
    ) -> None:
        self._registry = app.registry
        self._chain = ServerChain.of(app.middleware.server_chain)
        self._config = config
        self._threads = threads
        self._is_stopping = is_stopping
        self._tally = tally
        self._rng = rng
        self.dialect = SIDEKIQ_7
        """How times are written into what failed; the supervisor says when that changes."""
        self._running: dict[str, tuple[str, StopSignal]] = {}
        """By token: a job that was recovered while it ran may be here twice under one jid."""

    def cancel(self, jid: str) -> None:
        """End this job early, if it runs here."""
        for running_jid, stop in tuple(self._running.values()):
            if running_jid == jid:
                stop.cancel()

    async def run(self, leased: Leased) -> Ended:
        """Run to the end. Raises CancelledError only when the worker stops: the job then has no outcome."""
        now = time.time()
        try:
            job = Job.parse(leased.payload)
        except MalformedPayload as problem:
            log.error(
                "queue %s held a payload that is no job; it is in the dead set now: %s", leased.queue, problem
            )
            return self._ended(leased, "", counted_under(leased.payload), malformed(leased.payload, now), 0)
        name, jid = job.name, job.jid
        definition = self._registry.get(name)
        declared = NOTHING_DECLARED
        if definition is None:
            name = UNKNOWN
        else:
            declared = definition.declared
        stop = StopSignal(self._is_stopping, declared.timeout_seconds)
        with current.running(job, stop):
            if is_expired(job, now):
                job_log.ended(EXPIRED, None, milliseconds=0, now=now)
                return self._ended(leased, name, jid, EXPIRED, 0)
            started = time.monotonic()
            self._running[leased.token] = (jid, stop)
            try:
                error = await self._attempt(job, definition, stop)
            finally:
                del self._running[leased.token]
            milliseconds = round((time.monotonic() - started) * 1000)
            if stop.is_past_limit:
                self._tally.add(metrics.TIMED_OUT, leased.queue, name)
            now = time.time()
            outcome = DONE if error is None else self._outcome(leased, declared, error, now)
            job_log.ended(outcome, error, milliseconds=milliseconds, now=now)
        return self._ended(leased, name, jid, outcome, milliseconds)

    async def _attempt(
        self, job: Job, definition: JobDefinition[Any, Any] | None, stop: StopSignal
    ) -> BaseException | None:
        """What the job raised. While the worker stops, a job that was cancelled or that gave way has not
        failed: it goes back to the head of its queue when this process ends.
        """
        try:
            await self._call(job, definition, stop)
        except (asyncio.CancelledError, Interrupted) as error:
            if stop.is_cancelled:
                return stop.cancelled()
            if self._is_stopping():
                raise asyncio.CancelledError from error
            return error  # the job cancelled itself, or gave way to nothing: a failure like any other
        except BaseException as error:  # one that escaped would hold its slot and its lease for ever
            without_our_frames(error)
            # Whoever cancelled it wanted an end, not a retry because its clean-up failed.
            return stop.cancelled() if stop.is_cancelled else error
        return None

    async def _call(self, job: Job, definition: JobDefinition[Any, Any] | None, stop: StopSignal) -> None:
        if definition is None:
            raise UnknownJob(
                f"no job {job.name!r} is registered in this worker's app: is its JobSet included, "
                "and does this queue belong to this app?"
            )
        args, kwargs = definition.unbind(job.args)
        await Invocation(definition, job, args, kwargs, self._chain, self._threads, stop).run()

    def _outcome(self, leased: Leased, declared: JobOptions, error: BaseException, now: float) -> Outcome:
        try:
            return self._by_the_rules(leased, declared, error, now)
        except Exception:  # figures of a stranger's, beyond any arithmetic: the job has to go somewhere
            log.exception("the rules for failed jobs cannot take this payload; it is in the dead set now")
            return malformed(leased.payload, now)

    def _by_the_rules(
        self, leased: Leased, declared: JobOptions, error: BaseException, now: float
    ) -> Outcome:
        policy = self._config.view.queue(leased.queue)
        # Read again: while it ran, the job may have changed the very lists and dicts it was given.
        job = with_declared(Job.parse(leased.payload), declared)
        attempt = Attempt(
            job,
            leased.queue,
            effective_retries(job.retry, declared.retries, policy.max_retries if policy else None),
            functools.partial(retry_delay.of, error, declared.backoff, self._rng),
            now,
            self.dialect,
        )
        return outcome_of(attempt, error)

    def _ended(self, leased: Leased, name: str, jid: str, outcome: Outcome, milliseconds: int) -> Ended:
        token, queue, _ = leased
        if outcome is DONE:
            return Ended(token, queue, name, jid, Kind.DONE, milliseconds)
        ended = Ended(
            token,
            queue,
            name,
            jid,
            outcome.kind,
            milliseconds,
            failed=outcome.failed,
            payload=outcome.payload,
            score=outcome.at_seconds,
        )
        if outcome.kind is not Kind.DEAD:
            return ended
        limits = self._config.view.dead_limits()
        oldest = outcome.at_seconds - limits.retention_seconds
        return ended._replace(dead_oldest=oldest, dead_jobs=limits.max_jobs)
