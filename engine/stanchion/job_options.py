"""What `@job` may say about a job beside its name and queue: retries, back-off, time limits.

Checked where they are declared. What other workers need to know travels in every payload (`wire_fields`);
the rest is read by our worker from the code it has.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypedDict, Unpack

from stanchion.call import check_queue, check_retries
from stanchion.durations import to_seconds
from stanchion.errors import InvalidArguments
from stanchion.outcomes import JobOutcome

MAX_BACKTRACE_LINES = 1000

Backoff = Callable[[int, BaseException], float | timedelta | JobOutcome | None]
"""Takes the failures before this one (0 at the first) and the error; says in how many seconds to retry, or
what to do instead. None leaves it to the default."""


class JobOptionFields(TypedDict, total=False):
    """What `@job` accepts; None means not stated."""

    retries: bool | int | None
    retry_for: float | timedelta | None
    retry_queue: str | None
    dead: bool | None
    backtrace: bool | int | None
    backoff: Backoff | None
    timeout_seconds: float | timedelta | None
    expires_in: float | timedelta | None


@dataclass(frozen=True, slots=True)
class JobOptions:
    """Checked options of one job."""

    retries: bool | int | None = None
    """True for the default count, False for none, or a count."""
    backoff: Backoff | None = None
    timeout_seconds: float | None = None
    """How long one attempt may take."""
    expires_in_seconds: float | None = None
    """How long after it is due a job may still begin."""
    wire_fields: Mapping[str, Any] = field(default_factory=dict)
    """Sidekiq's own fields `retry_for`, `retry_queue`, `dead` and `backtrace`, as far as stated."""

    @classmethod
    def of(cls, **fields: Unpack[JobOptionFields]) -> JobOptions:
        """Raises InvalidArguments, naming the option, for an unknown or unfit one."""
        unknown = sorted(fields.keys() - JobOptionFields.__annotations__.keys())
        if unknown:
            known = ", ".join(JobOptionFields.__annotations__)
            raise InvalidArguments(f"unknown option {', '.join(unknown)}; there are name, queue, {known}")
        return cls(
            retries=check_retries(fields.get("retries")),
            backoff=_backoff(fields.get("backoff")),
            timeout_seconds=to_seconds("timeout_seconds", fields.get("timeout_seconds"), above_zero=True),
            expires_in_seconds=to_seconds("expires_in", fields.get("expires_in"), above_zero=True),
            wire_fields=_wire_fields(fields),
        )


def _wire_fields(fields: JobOptionFields) -> Mapping[str, Any]:
    retry_for = to_seconds("retry_for", fields.get("retry_for"), above_zero=True)
    retry_queue = fields.get("retry_queue")
    stated = {
        "retry_for": None if retry_for is None else math.ceil(retry_for),  # Sidekiq wants whole seconds
        "retry_queue": None if retry_queue is None else check_queue(retry_queue),
        "dead": _dead(fields.get("dead")),
        "backtrace": _backtrace(fields.get("backtrace")),
    }
    return {name: value for name, value in stated.items() if value is not None}


def _dead(dead: bool | None) -> bool | None:
    if dead is not None and not isinstance(dead, bool):
        raise InvalidArguments(f"dead must be True or False, not {dead!r}")
    return dead


def _backtrace(backtrace: bool | int | None) -> bool | int | None:
    if backtrace is None or isinstance(backtrace, bool):
        return backtrace
    if not isinstance(backtrace, int) or not 1 <= backtrace <= MAX_BACKTRACE_LINES:
        raise InvalidArguments(
            f"backtrace must be True, False or 1 to {MAX_BACKTRACE_LINES} lines, not {backtrace!r}"
        )
    return backtrace


def _backoff(backoff: Backoff | None) -> Backoff | None:
    if backoff is not None and (not callable(backoff) or inspect.iscoroutinefunction(backoff)):
        raise InvalidArguments(
            f"backoff must be a plain function of the failures so far and the error, not {backoff!r}"
        )
    return backoff
