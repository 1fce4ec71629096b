"""Draws a scene: two panels side by side over the whole width, one above the other below 80 columns.

Pure rendering.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from stanchion.dev.demo.scene import Scene
from stanchion.dev.demo.side import Reading
from stanchion.dev.view import ALARM, CALM, GOOD, MUTED, NEAR_SHARE, NOTICE

WIDTH = 80
"""From here on the panels stand side by side."""
BARS = "▁▂▃▄▅▆▇█"
HEADROOM = 4 / 3
"""The bars reach this multiple of the target, so that a broken promise stands out at the top."""
WORKER, NO_WORKER = "■", "·"
MOST_WORKERS_DRAWN = 10


def picture(scene: Scene) -> RenderableType:
    """The whole stage."""
    words = [Text(line) for line in scene.words]
    panels = Panels([panel(side) for side in scene.sides])
    return Group(Text(scene.title, style="bold"), *words, Text(), panels, Text(scene.decision, style=MUTED))


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels that share the width there is."""

    panels: Sequence[Panel]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < WIDTH:
            yield Group(*self.panels)
            return
        grid = Table.grid(expand=True, padding=(0, 1, 0, 0))
        for _ in self.panels:
            grid.add_column(ratio=1)
        grid.add_row(*self.panels)
        yield grid


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
    return Panel(Group(rows, Trace(side)), title=title, title_align="left", border_style=MUTED)


def age(side: Reading) -> Text:
    """`7.2 s, target 15 s`."""
    style = color(side.age_seconds, side.target_seconds)
    return Text.assemble((f"{side.age_seconds:.1f} s", style), (f"  target {side.target_seconds:g} s", MUTED))


def workers(side: Reading) -> Text:
    """A square per worker and the number."""
    drawn = WORKER * min(side.workers, MOST_WORKERS_DRAWN) or NO_WORKER
    return Text.assemble((drawn, CALM), f" {side.workers} × {side.slots}")


@dataclass(frozen=True, slots=True)
class Trace:
    """The age of the oldest job over the last seconds, as bars: as many as there is room for."""

    side: Reading

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        top = self.side.target_seconds * HEADROOM
        shown = self.side.trace[-options.max_width :]
        text = Text(" " * (options.max_width - len(shown)))
        for seconds in shown:
            height = min(len(BARS) - 1, int(seconds / top * len(BARS)))
            text.append(BARS[height], style=color(seconds, self.side.target_seconds))
        yield text


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
