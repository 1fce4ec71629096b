"""Draws a scene: two panels side by side, 80 columns wide. Pure rendering."""

from __future__ import annotations

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from stanchion.dev.demo.scene import Scene
from stanchion.dev.demo.side import TRACE_POINTS, Reading
from stanchion.dev.view import ALARM, CALM, GOOD, MUTED, NEAR_SHARE, NOTICE

WIDTH = 80
PANEL_WIDTH = 39
BARS = "▁▂▃▄▅▆▇█"
HEADROOM = 4 / 3
"""The bars reach this multiple of the target, so that a broken promise stands out at the top."""
WORKER, NO_WORKER = "■", "·"
MOST_WORKERS_DRAWN = 10


def picture(scene: Scene) -> RenderableType:
    """The whole stage."""
    words = [Text(line) for line in scene.words]
    panels = Columns([panel(side) for side in scene.sides], width=PANEL_WIDTH, padding=(0, 1), expand=False)
    decision = Text(scene.decision, style=MUTED, no_wrap=True, overflow="ellipsis")
    return Group(Text(scene.title, style="bold"), *words, Text(), panels, decision)


def panel(side: Reading) -> Panel:
    """One queue's figures and the trace of its oldest job's age."""
    rows = Table.grid(padding=(0, 1))
    rows.add_column(style=MUTED)
    rows.add_column(no_wrap=True)
    rows.add_row("oldest", age(side))
    rows.add_row("late for", Text(f"{side.late_seconds:.1f} s", style=ALARM if side.late_seconds else GOOD))
    rows.add_row("waiting", f"{side.waiting:,}")
    rows.add_row("workers", workers(side))
    rows.add_row("ran", f"{side.count.ran:,} of {side.count.pushed:,}")
    title = Text.assemble((side.name, f"bold {CALM}"), (f"  {side.note}", MUTED))
    return Panel(
        Group(rows, trace(side)), title=title, title_align="left", border_style=MUTED, width=PANEL_WIDTH
    )


def age(side: Reading) -> Text:
    """`7.2 s, target 15 s`."""
    style = color(side.age_seconds, side.target_seconds)
    return Text.assemble((f"{side.age_seconds:.1f} s", style), (f"  target {side.target_seconds:g} s", MUTED))


def workers(side: Reading) -> Text:
    """A square per worker and the number."""
    drawn = WORKER * min(side.workers, MOST_WORKERS_DRAWN) or NO_WORKER
    return Text.assemble((drawn, CALM), f" {side.workers} × {side.slots}")


def trace(side: Reading) -> Text:
    """The age of the oldest job over the last seconds, as bars."""
    top = side.target_seconds * HEADROOM
    text = Text(" " * (TRACE_POINTS - len(side.trace)))
    for seconds in side.trace:
        height = min(len(BARS) - 1, int(seconds / top * len(BARS)))
        text.append(BARS[height], style=color(seconds, side.target_seconds))
    return text


def color(seconds: float, target_seconds: float) -> str:
    """How near the promise is."""
    if seconds > target_seconds:
        return ALARM
    return NOTICE if seconds > NEAR_SHARE * target_seconds else GOOD


def line(side: Reading) -> str:
    """One side as a plain line."""
    return (
        f"  {side.name}: oldest {side.age_seconds:.1f} s of {side.target_seconds:g} s, "
        f"waiting {side.waiting:,}, {side.workers} workers, ran {side.count.ran:,} of {side.count.pushed:,}, "
        f"late for {side.late_seconds:.1f} s"
    )
