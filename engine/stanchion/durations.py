"""Spans of time as an application states them: seconds or a `timedelta`, checked where they are given."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, overload

from stanchion.errors import InvalidArguments

MAX_SECONDS = 100 * 366 * 86_400.0


@overload
def to_seconds(name: str, duration: None, *, above_zero: bool = ...) -> None: ...
@overload
def to_seconds(name: str, duration: float | timedelta, *, above_zero: bool = ...) -> float: ...
@overload
def to_seconds(name: str, duration: float | timedelta | None, *, above_zero: bool = ...) -> float | None: ...


def to_seconds(name: str, duration: float | timedelta | None, *, above_zero: bool = False) -> float | None:
    """`duration` in seconds; None stays None. Raises InvalidArguments, naming the option, unless it is a
    number from 0 (or above it) to 100 years.
    """
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    if seconds is None:
        return None
    if not is_number(seconds, most=MAX_SECONDS) or (above_zero and not seconds):
        least = "above 0" if above_zero else "0"
        raise InvalidArguments(
            f"{name} must be seconds, {least} to 100 years, or a timedelta, not {duration!r}"
        )
    return float(seconds)


def is_number(value: Any, *, most: float) -> bool:
    """Whether it is a real number from 0 to `most`; True and False are none, nor is NaN."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= most
