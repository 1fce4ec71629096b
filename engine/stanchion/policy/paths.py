"""Paths into a payload, such as `args[0].rows[*].sku`: parsing and selection.

Used for a queue's `tenantFrom` and for the parts of a lock's key. A path is rooted at the payload;
keyword-only arguments are the last element of `args`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stanchion.errors import InvalidPolicy

MAX_CHARACTERS = 256
MAX_VALUES = 1_000
"""Values one path may select of one payload; `[*]` over more than that takes the first ones."""

ALL = "*"
_NAME = r"[A-Za-z_][A-Za-z0-9_-]*"
_STEP = re.compile(rf"\.(?P<name>{_NAME})|\[(?P<index>[0-9]{{1,4}})\]|\[(?P<all>\*)\]")
_ROOT = re.compile(_NAME)

Step = str | int
"""A field name, an index, or ALL as the only `*`."""


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path. `steps` begins with the payload's field."""

    text: str
    steps: tuple[Step, ...]

    @property
    def is_single(self) -> bool:
        """Whether it names at most one value."""
        return ALL not in self.steps

    @property
    def argument(self) -> int | None:
        """N of a path that begins with `args[N]`, else None."""
        if len(self.steps) > 1 and self.steps[0] == "args" and isinstance(self.steps[1], int):
            return self.steps[1]
        return None


def parse(text: str, field: str = "path") -> Path:
    """Raises InvalidPolicy (naming `field`) unless `text` is `name(.name | [N] | [*])*`."""
    root = _ROOT.match(text)
    if root is None or len(text) > MAX_CHARACTERS:
        raise _bad(text, field)
    steps: list[Step] = [root.group()]
    position = root.end()
    while position < len(text):
        step = _STEP.match(text, position)
        if step is None:
            raise _bad(text, field)
        index = step["index"]
        steps.append(int(index) if index is not None else step["name"] or ALL)
        position = step.end()
    return Path(text, tuple(steps))


def select(path: Path, payload: Mapping[str, Any]) -> list[Any]:
    """The values the path names, in order; none where the payload has no such place."""
    found: list[Any] = [payload]
    for step in path.steps:
        found = [value for place in found for value in _step(place, step)][:MAX_VALUES]
    return found


def _step(place: Any, step: Step) -> list[Any]:
    if step == ALL:
        return place if isinstance(place, list) else []
    if isinstance(step, int):
        return [place[step]] if isinstance(place, list) and step < len(place) else []
    return [place[step]] if isinstance(place, Mapping) and step in place else []


def _bad(text: str, field: str) -> InvalidPolicy:
    return InvalidPolicy(field, f"{text!r} is no path into the payload, such as args[0].tenant_id")
