"""What the audience sees at one moment: the act's words, both sides, the last scaling decision."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stanchion.dev.demo.side import Reading


@dataclass(frozen=True, slots=True)
class Scene:
    """Frozen; each change makes a new one."""

    title: str = ""
    words: tuple[str, ...] = ()
    sides: tuple[Reading, ...] = ()
    decision: str = ""

    def with_sides(self, *sides: Reading) -> Scene:
        """The same moment with newer readings."""
        return replace(self, sides=sides)
