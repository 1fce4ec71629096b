"""The receipt: what became of every job, on both sides, and the verdict of the demo."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from stanchion.dev.demo.side import Reading
from stanchion.dev.view import ALARM, CALM, GOOD, MUTED

WIDTH = 80


def receipt(sides: Sequence[Reading]) -> Table:
    """A column per side."""
    table = Table(box=None, header_style=MUTED, padding=(0, 3, 0, 0), title_justify="left")
    table.add_column("receipt")
    for side in sides:
        table.add_column(Text(side.name, style=CALM), justify="right")
    for name, values in rows(sides):
        table.add_row(name, *(Text(value, style=_style(name, value)) for value in values))
    return table


def rows(sides: Sequence[Reading]) -> list[tuple[str, list[str]]]:
    """The lines of the receipt. Lost is what was pushed and never ran, with nothing waiting or running."""
    return [
        ("jobs pushed", [f"{side.count.pushed:,}" for side in sides]),
        ("jobs run", [f"{side.count.ran:,}" for side in sides]),
        ("runs too many", [f"{side.count.duplicates:,}" for side in sides]),
        ("jobs lost", [f"{side.count.missing:,}" for side in sides]),
        ("seconds over target", [f"{side.late_seconds:.1f}" for side in sides]),
    ]


def _style(name: str, value: str) -> str:
    if name in ("jobs lost", "seconds over target"):
        return GOOD if float(value.replace(",", "")) == 0 else ALARM
    return ""
