"""Tables as `kubectl` prints them, safe for a terminal. Called by every command that lists."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

WIDEST = 128
"""Characters of a cell: as many as the name of a queue may have."""
WIDEST_ID = 40
"""Of a job's id: more than Ruby's and a UUID have."""


def render(titles: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[str] = ()) -> str:
    """Aligned columns; those titled in `numbers` to the right. On a terminal a line ends at its edge."""
    cells = [tuple(titles), *(_cells(titles, row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return "\n".join(_line(row, titles, widths, numbers)[:edge].rstrip() for row in cells)


def _line(row: Sequence[str], titles: Sequence[str], widths: Sequence[int], numbers: Sequence[str]) -> str:
    return "  ".join(
        f"{cell:>{width}}" if title in numbers else f"{cell:<{width}}"
        for cell, title, width in zip(row, titles, widths, strict=True)
    )


def _cells(titles: Sequence[str], row: Sequence[str]) -> tuple[str, ...]:
    """The last column ends its line, however long; one long text in another would pad every row."""
    *padded, last = map(clean, row)
    cut = [
        _cut(cell, WIDEST_ID if title == "JID" else WIDEST)
        for title, cell in zip(titles, padded, strict=False)
    ]
    return (*cut, last)


def _cut(text: str, widest: int) -> str:
    return text if len(text) <= widest else text[: widest - 1] + "…"


def clean(text: str) -> str:
    """One line without control characters: a payload is a stranger's, and a terminal obeys it."""
    return "".join(char if char.isprintable() else " " for char in text)
