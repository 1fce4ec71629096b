"""The trace a call belongs to: a W3C `traceparent`, carried from whoever enqueues into the job and on.

An opaque text to us: it is put into payloads and handed to jobs, never parsed and never made up.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from stanchion.errors import InvalidArguments

MAX_CHARACTERS = 512

traceparent: ContextVar[str | None] = ContextVar("stanchion_traceparent", default=None)
"""Set it where a request comes in, and every call enqueued there carries it. A worker sets it for each job
that has one, so jobs enqueued by a job belong to its trace."""


def is_traceparent(value: Any) -> bool:
    """Whether it may travel: one line of ASCII text, not empty and not endless."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_CHARACTERS
        and value.isascii()
        and value.isprintable()
    )


def check_traceparent(value: str | None) -> str | None:
    """Raises InvalidArguments unless it is None or may travel."""
    if value is not None and not is_traceparent(value):
        raise InvalidArguments(
            f"traceparent must be printable ASCII text of at most {MAX_CHARACTERS} characters, not {value!r}"
        )
    return value
