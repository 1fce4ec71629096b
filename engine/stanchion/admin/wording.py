"""Ages, times and counts in words, as `kubectl` writes them. Called by whatever a person reads. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

UNITS = (("d", 86_400), ("h", 3600), ("m", 60))
NOW_SECONDS = 2.0
"""Nearer than this is now."""


def span(seconds: float | None) -> str:
    """Whole seconds as `kubectl` shows ages: 42s, 7m, 3h, 2d; `-` where nobody knows."""
    if seconds is None:
        return "-"
    for unit, size in UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:.0f}{unit}"
    return f"{max(0.0, seconds):.0f}s"


def due(at_seconds: float, now: float) -> str:
    """When something is due: `in 5m`, `now`, or `3m ago`."""
    if abs(at_seconds - now) < NOW_SECONDS:
        return "now"
    return f"in {span(at_seconds - now)}" if at_seconds > now else f"{span(now - at_seconds)} ago"


def moment(at_seconds: float | None) -> str:
    """A point in time, UTC; `-` where nobody knows or no clock can show it."""
    if at_seconds is None:
        return "-"
    try:
        return f"{datetime.fromtimestamp(at_seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return "-"


def waiting_elsewhere(retrying: int, scheduled: int, dead: int) -> str:
    """`12 retrying, 3 scheduled, 1 dead: stanchion dead ls`: jobs in no queue, and where to look at the worst
    of them; empty when there are none.
    """
    sets = (("retrying", "retry", retrying), ("scheduled", "schedule", scheduled), ("dead", "dead", dead))
    held = [each for each in sets if each[2]]
    if not held:
        return ""
    counts = ", ".join(f"{count:,} {words}" for words, _, count in held)
    command = "dead" if dead else held[0][1]
    return f"{counts}: stanchion {command} ls"


def counted(count: int, noun: str) -> str:
    """`1 job`, `1,234 jobs`, `2 processes`."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{'' if count == 1 else plural}"
