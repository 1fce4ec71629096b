"""Where the demo is shown: redrawn in place in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, RenderableType
from rich.live import Live

from stanchion.dev.demo.picture import WIDTH, line, picture
from stanchion.dev.demo.scene import Scene

PLAIN_STEP_SECONDS = 3.0


class Curtain(Protocol):
    """What the show needs of a display."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def show(self, scene: Scene) -> None:
        """How things stand; called several times a second."""

    def close_with(self, ending: RenderableType) -> None:
        """The last thing shown, below the final scene."""


def curtain_for(*, live: bool) -> Curtain:
    """The live one where it was not declined and standard output is a terminal."""
    return LiveCurtain() if live and sys.stdout.isatty() else PlainCurtain()


class LiveCurtain:
    """One picture, redrawn."""

    def __init__(self, console: Console | None = None) -> None:
        self._live = Live(console=console, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, scene: Scene) -> None:
        self._live.update(picture(scene), refresh=True)

    def close_with(self, ending: RenderableType) -> None:
        self._live.stop()
        self._live.console.print(ending)


class PlainCurtain:
    """The words of each act once, each decision once, and the figures every few seconds."""

    def __init__(self) -> None:
        self._told: Scene = Scene()
        self._next_figures_at = 0.0
        self._console = Console(width=WIDTH, force_terminal=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.stdout.flush()

    def show(self, scene: Scene) -> None:
        if scene.title != self._told.title:
            print(f"\n{scene.title}")
        if scene.words != self._told.words:
            print(*(word for word in scene.words if word not in self._told.words), sep="\n")
        if scene.decision != self._told.decision:
            print(f"  {scene.decision}")
        self._told = scene
        if time.monotonic() >= self._next_figures_at and scene.sides:
            self._next_figures_at = time.monotonic() + PLAIN_STEP_SECONDS
            print(*map(line, scene.sides), sep="\n", flush=True)

    def close_with(self, ending: RenderableType) -> None:
        sys.stdout.flush()
        self._console.print(ending)
