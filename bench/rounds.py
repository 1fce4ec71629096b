"""Interleaved rounds, and what they say: medians with their range, and the ratio within each round.

The machine's speed drifts, so engines take turns and are compared with what ran beside them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import median

Key = tuple[str, str, str]
"""Measurement, engine, figure."""


class Rounds:
    """Figures of every round."""

    def __init__(self) -> None:
        self._figures: defaultdict[Key, list[float]] = defaultdict(list)

    def add(self, measurement: str, engine: str, figures: dict[str, float]) -> None:
        """One engine's figures of one measurement in the round that runs."""
        for name, number in figures.items():
            self._figures[measurement, engine, name].append(number)
            print(f"  {measurement:28} {engine:18} {name:14} {number:12.1f}", flush=True)

    def table(self) -> str:
        """Every figure as median and range, in Markdown."""
        rows = ["| measurement | engine | figure | median | range |", "|---|---|---|---|---|"]
        for (measurement, engine, name), numbers in sorted(self._figures.items()):
            spread = f"{min(numbers):,.1f} to {max(numbers):,.1f}"
            rows.append(f"| {measurement} | {engine} | {name} | {median(numbers):,.1f} | {spread} |")
        return "\n".join(rows)

    def ratio(self, ours: Key, theirs: Key) -> str:
        """Ours over theirs, round by round."""
        pairs = zip(self._figures[ours], self._figures[theirs], strict=False)
        ratios = [mine / other for mine, other in pairs if other]
        if not ratios:
            return "not measured"
        return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"

    def join(self, join: Callable[[Iterable[float]], float], measurements: list[str], into: Key) -> None:
        """Make one figure of several of its engine, round by round: their best (max), their sum."""
        _, engine, name = into
        columns = [self._figures.get((one, engine, name), []) for one in measurements]
        self._figures[into] = [join(numbers) for numbers in zip(*columns, strict=False)]
