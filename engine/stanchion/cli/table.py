"""Tables and ages as `kubectl` prints them, safe for a terminal. Called by every command that lists."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

UNITS = (("d", 86_400), ("h", 3600), ("m", 60))


def render(titles: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[str] = ()) -> str:
    """Aligned columns; those titled in `numbers` to the right. On a terminal a line ends at its edge."""
    cells = [tuple(titles), *(tuple(map(clean, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return "\n".join(_line(row, titles, widths, numbers)[:edge].rstrip() for row in cells)


def _line(row: Sequence[str], titles: Sequence[str], widths: Sequence[int], numbers: Sequence[str]) -> str:
    return "  ".join(
        f"{cell:>{width}}" if title in numbers else f"{cell:<{width}}"
        for cell, title, width in zip(row, titles, widths, strict=True)
    )


def clean(text: str) -> str:
    """One line without control characters: a payload is a stranger's, and a terminal obeys it."""
    return "".join(char if char.isprintable() else " " for char in text)


def span(seconds: float | None) -> str:
    """Whole seconds as `kubectl` shows ages: 42s, 7m, 3h, 2d; `-` where nobody knows."""
    if seconds is None:
        return "-"
    for unit, size in UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:.0f}{unit}"
    return f"{max(0.0, seconds):.0f}s"


def due(at_seconds: float, now: float) -> str:
    """When something is due: `in 5m`, or `now` once its time has come."""
    return f"in {span(at_seconds - now)}" if at_seconds > now else "now"


def moment(at_seconds: float | None) -> str:
    """A point in time, UTC; `-` where nobody knows or no clock can show it."""
    if at_seconds is None:
        return "-"
    try:
        return datetime.fromtimestamp(at_seconds, UTC).isoformat(sep=" ", timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return "-"


def counted(count: int, noun: str) -> str:
    """`1 job`, `1,234 jobs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
