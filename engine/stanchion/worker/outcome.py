"""What becomes of a job after one attempt. Pure: payload, error, time and chance go in, an outcome comes out.

The formulas and error fields are Sidekiq 7's, so that Ruby's web page and workers read our retries.
"""

from __future__ import annotations

import base64
import json
import traceback
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from stanchion.dialect import SIDEKIQ_7, Dialect
from stanchion.job import Job
from stanchion.store.trip import Kind

DEFAULT_RETRIES = 25
BASE_DELAY_SECONDS = 15
MAX_ERROR_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """`payload` and `at_seconds` (epoch) are the entry of `retry` or `dead`."""

    kind: Kind
    payload: bytes = b""
    at_seconds: float = 0.0
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """What an exception leaves in the payload."""

    error_class: str
    message: str
    backtrace: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Class as `module.Class` (builtins bare), the message, the innermost frame first as in Ruby."""
        kind = type(error)
        name = (
            kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        )
        frames = reversed(traceback.extract_tb(error.__traceback__))
        lines = tuple(f"{frame.filename}:{frame.lineno}:in '{frame.name}'" for frame in frames)
        return cls(name, _words(error)[:MAX_ERROR_CHARACTERS], lines)


def _words(error: BaseException) -> str:
    """An application's exception may fail to say what it is; the attempt has failed all the same."""
    try:
        return str(error)
    except Exception as trouble:
        return f"(no message: its __str__ raised {type(trouble).__name__})"


DONE = Outcome(Kind.DONE)


def after_failure(
    job: Job,
    queue: str,
    failure: Failure,
    *,
    retries: bool | int,
    now: float,
    rng: Random,
    dialect: Dialect = SIDEKIQ_7,
) -> Outcome:
    """Retry later, bury, or drop. `queue` is the one the job was taken from; `retries` the effective limit.

    False: dropped, as Sidekiq does. A number: that many retries, then `dead`, unless the payload says
    `dead: false`. `retry_for` (seconds since the first failure) ends retries as well.
    """
    if retries is False:
        return Outcome(Kind.DISCARD, failed=True)
    failed = job.replace(**_failure_fields(job, queue, failure, dialect.timestamp(now)))
    count = failed.retry_count or 0
    if count >= limit_of(retries) or _is_past_retry_for(failed, now):
        if job.fields.get("dead") is False:
            return Outcome(Kind.DISCARD, failed=True)
        return Outcome(Kind.DEAD, failed.dump(), now, failed=True)
    return Outcome(Kind.RETRY, failed.dump(), now + delay_seconds(count, rng), failed=True)


def malformed(payload: bytes, now: float) -> Outcome:
    """Bytes that are no job are buried as they are, for a person to look at."""
    return Outcome(Kind.DEAD, payload, now, failed=True)


def delay_seconds(count: int, rng: Random) -> float:
    """Sidekiq's back-off: count⁴ + 15 s, and a jitter of up to 10 · (count + 1) s."""
    return count**4 + BASE_DELAY_SECONDS + rng.random() * 10 * (count + 1)


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


def _failure_fields(job: Job, queue: str, failure: Failure, now: float | int) -> Mapping[str, Any]:
    retry_queue = job.fields.get("retry_queue")
    fields: dict[str, Any] = {
        "queue": retry_queue if isinstance(retry_queue, str) and retry_queue else queue,
        "error_message": failure.message,
        "error_class": failure.error_class,
    }
    if job.retry_count is None:
        fields |= {"failed_at": now, "retry_count": 0}
    else:
        fields |= {"retried_at": now, "retry_count": job.retry_count + 1}
    wanted = job.fields.get("backtrace")
    if wanted:
        lines = failure.backtrace if wanted is True else failure.backtrace[: _lines(wanted)]
        fields["error_backtrace"] = compress(lines)
    return fields


def compress(lines: tuple[str, ...]) -> str:
    """A backtrace as Sidekiq 7 stores it: base64 of deflated JSON."""
    return base64.b64encode(zlib.compress(json.dumps(lines).encode())).decode()


def _lines(wanted: Any) -> int:
    return wanted if isinstance(wanted, int) and wanted > 0 else 0


def _is_past_retry_for(failed: Job, now: float) -> bool:
    window, since = failed.fields.get("retry_for"), failed.failed_at_seconds
    if isinstance(window, bool) or not isinstance(window, (int, float)) or since is None:
        return False
    return since + window < now
