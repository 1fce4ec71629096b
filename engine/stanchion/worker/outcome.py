"""What becomes of a job after one attempt. Pure: payload, error, time and delay go in, an outcome comes out.

The rules are Sidekiq's, so that Ruby's web page and workers read our retries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stanchion.dialect import SIDEKIQ_7, Dialect
from stanchion.errors import UnfitPayload, UnknownJob
from stanchion.job import Job
from stanchion.job_options import JobOptions
from stanchion.outcomes import Discard, Interrupted, JobOutcome, Kill, Snooze
from stanchion.store.trip import Kind
from stanchion.worker.failure import Failure

DEFAULT_RETRIES = 25

Delay = Callable[[int], float | JobOutcome]
"""Takes the failures before this one; seconds until the next attempt, or what to do instead."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`payload` and `at_seconds` (epoch) are the new entry of `retry`, `dead` or `schedule`."""

    kind: Kind
    payload: bytes = b""
    at_seconds: float = 0.0
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a job and the rules it was made under."""

    job: Job
    queue: str
    """Where the job was taken from; what its payload says may be another one."""
    retries: bool | int
    """The effective limit."""
    delay: Delay
    now: float
    """When it ended, epoch seconds."""
    dialect: Dialect = SIDEKIQ_7


DONE = Outcome(Kind.DONE)
EXPIRED = Outcome(Kind.EXPIRED)


def outcome_of(attempt: Attempt, error: BaseException | None) -> Outcome:
    """Where the job goes. None and exceptions mean what they say; the rest was raised on purpose."""
    match error:
        case None:
            return DONE
        case Discard():
            return Outcome(Kind.DISCARD)
        case Interrupted():  # nothing stops here: put off uncounted, the job would come back for ever
            return _retried(attempt, error)
        case Snooze():
            return _snoozed(attempt, error.in_seconds)
        case Kill():
            return _buried(attempt, _failed(attempt, error))
    return _retried(attempt, error)


def _retried(attempt: Attempt, error: BaseException) -> Outcome:
    """Retry later, bury, or drop.

    False: dropped, as Sidekiq does. A number: that many retries, then `dead`, unless the payload says
    `dead: false`. What the code does not know or cannot call has never run: it is buried where
    the rest is dropped.
    """
    failed = _failed(attempt, error)
    is_spent = attempt.retries is False or _is_exhausted(failed, attempt.retries, attempt.now)
    if is_spent:
        is_kept = attempt.retries is not False and failed.fields.get("dead") is not False
        if is_kept or isinstance(error, (UnknownJob, UnfitPayload)):
            return _buried(attempt, failed)
        return Outcome(Kind.DISCARD, failed=True)
    count = failed.retry_count or 0
    delay = attempt.delay(count)
    if isinstance(delay, JobOutcome):
        return outcome_of(attempt, delay)
    return Outcome(Kind.RETRY, failed.dump(), attempt.now + delay, failed=True)


def _snoozed(attempt: Attempt, seconds: float) -> Outcome:
    """Back into the schedule, as a job that has not run: no failure is counted."""
    job = attempt.job.replace(
        queue=attempt.queue, enqueued_at=None, snooze_count=attempt.job.snooze_count + 1
    )
    return Outcome(Kind.SNOOZE, job.dump(), attempt.now + seconds)


def _failed(attempt: Attempt, error: BaseException) -> Job:
    retry_queue = attempt.job.fields.get("retry_queue")
    queue = retry_queue if isinstance(retry_queue, str) and retry_queue else attempt.queue
    fields = Failure.of(error).fields(attempt.job, attempt.dialect.timestamp(attempt.now))
    return attempt.job.replace(queue=queue, **fields)


def _buried(attempt: Attempt, failed: Job) -> Outcome:
    return Outcome(Kind.DEAD, failed.dump(), attempt.now, failed=True)


def malformed(payload: bytes, now: float) -> Outcome:
    """Bytes that are no job are buried as they are, for a person to look at."""
    return Outcome(Kind.DEAD, payload, now, failed=True)


def is_expired(job: Job, now: float) -> bool:
    """Whether it is too late to begin."""
    return job.expires_at_seconds is not None and job.expires_at_seconds <= now


def with_declared(job: Job, declared: JobOptions) -> Job:
    """The job with what its code declares and its payload does not say: a producer may lack the code."""
    fields = dict(declared.wire_fields)
    if declared.retries is not None:
        fields["retry"] = declared.retries
    return Job({**fields, **job.fields}) if fields else job


def limit_of(retries: bool | int) -> int:
    """How many retries a wire value allows."""
    return DEFAULT_RETRIES if retries is True else max(0, int(retries))


def effective_retries(stated: bool | int, code: bool | int | None, policy: int | None) -> bool | int:
    """The call, then the policy, then code. A payload that says what code says was not told otherwise by
    its caller, so the policy's number holds; `retry: false` is never turned into retries.
    """
    if policy is None or stated is False:
        return stated
    is_from_code = stated is True or (code is not None and stated == code)
    return policy if is_from_code else stated


def _is_exhausted(failed: Job, retries: bool | int, now: float) -> bool:
    """By time since the first failure where `retry_for` says so; it takes the place of the default count
    (Sidekiq 8.1), while a count that somebody stated holds beside it.
    """
    is_counted = True
    window, since = failed.fields.get("retry_for"), failed.failed_at_seconds
    if isinstance(window, (int, float)) and not isinstance(window, bool) and since is not None:
        if since + window < now:
            return True
        is_counted = retries is not True
    return is_counted and (failed.retry_count or 0) >= limit_of(retries)
