"""Where a run is shown: a live table in a terminal, plain lines elsewhere. Called by the runner.

Both take the same calls: `tell` for what happened, `show` for how things stand. Worker output goes
through the screen too, so that it scrolls above the table instead of tearing it.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from stanchion.dev.status import Happening, RunStatus
from stanchion.dev.view import MUTED, happening_line, happening_table, queue_line, run_view, sets_line

SHOWN_HAPPENINGS = 6
SETS = ""
"""No queue's name."""
NO_SETS = "no job retrying, scheduled or dead"
QUIET_SECONDS = 5.0
"""Plain lines repeat an unchanged picture at most this often, and an idle one never."""


class Screen(Protocol):
    """What the runner needs of a display."""

    is_closed: bool
    """Nobody reads any more what is shown: the run ends, as if told to stop."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def tell(self, source: str, text: str, *, alarming: bool = False) -> None:
        """Something happened."""

    def tell_output(self, worker: str, line: str) -> None:
        """A worker printed a line; shown by the next `show` at the latest."""

    def show(self, status: RunStatus) -> None:
        """How things stand; called every tick."""


def screen_for(*, live: bool) -> Screen:
    """The live screen where it was not declined and standard output is a terminal, else plain lines."""
    return LiveScreen() if live and sys.stdout.isatty() else PlainScreen()


class LiveScreen:
    """A table that redraws itself in place, the last happenings below it. A terminal that goes sends HUP."""

    is_closed = False

    def __init__(self, console: Console | None = None) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=False)
        self._happenings: deque[Happening] = deque(maxlen=SHOWN_HAPPENINGS)
        self._status: RunStatus | None = None
        self._output: list[Text] = []

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._print_output()
        if self._status is not None:
            self.show(self._status)  # what was told since the last tick: how the run ended
        self._live.stop()

    def tell(self, source: str, text: str, *, alarming: bool = False) -> None:
        happening = Happening(datetime.now(), source, text, alarming)
        if "\n" in text:  # a list of refusals: it would push the table off a small screen
            self._live.console.print(happening_table([happening]))
            happening = replace(
                happening, text=f"{text.partition(chr(10))[0].rstrip(chr(58))} (listed above)"
            )
        self._happenings.append(happening)

    def tell_output(self, worker: str, line: str) -> None:
        # Each print draws the table anew: a thousand lines, one by one, would make it show the past.
        self._output.append(Text.assemble((f"{worker} | ", MUTED), line))

    def show(self, status: RunStatus) -> None:
        self._status = status
        self._print_output()
        self._live.update(run_view(status, tuple(self._happenings)), refresh=True)

    def _print_output(self) -> None:
        if self._output:
            self._live.console.print(Text("\n").join(self._output), soft_wrap=True)
            self._output.clear()


class PlainScreen:
    """A line per happening, and one per queue whenever its figures moved."""

    def __init__(self) -> None:
        self.is_closed = False
        self._last: dict[str, tuple[str, datetime]] = {SETS: (NO_SETS, datetime.min)}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def tell(self, source: str, text: str, *, alarming: bool = False) -> None:
        self._print(happening_line(Happening(datetime.now(), source, text, alarming)), sys.stdout)

    def tell_output(self, worker: str, line: str) -> None:
        self._print(f"{worker} | {line}", sys.stderr)

    def show(self, status: RunStatus) -> None:
        now = datetime.now()
        for queue in (*status.queues, *status.strays):
            self._say(queue.queue, queue_line(queue), now)
        self._say(SETS, sets_line(status) or NO_SETS, now)

    def _say(self, what: str, line: str, now: datetime) -> None:
        """Unless it was said, or something else of it a moment ago."""
        last, at = self._last.get(what, ("", datetime.min))
        if line != last and (now - at).total_seconds() >= QUIET_SECONDS:
            self._last[what] = (line, now)
            self._print(f"{now:%H:%M:%S} {line}", sys.stdout)

    def _print(self, line: str, stream: TextIO) -> None:
        try:
            print(line, file=stream, flush=True)
        except BrokenPipeError:
            self.is_closed = True
            # What is left in the buffer goes nowhere: the interpreter would fail over it when it ends.
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())
