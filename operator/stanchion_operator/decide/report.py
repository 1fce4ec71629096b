"""What a pass over one policy ends with: what to show, and whether to look again soon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stanchion_operator.decide.conditions import Condition, find, merge
from stanchion_operator.errors import Retry

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """`fields` are the status without its conditions. `retry` is None where nothing went wrong."""

    fields: Json
    conditions: tuple[Condition, ...]
    retry: Retry | None = None
    repaired: bool = False
    """The config hash had been changed or lost in Redis, and was written again."""


def status(report: Report, old_conditions: Sequence[Json], generation: int, now: float) -> dict[str, Any]:
    """The status to apply: complete, so that what is left out goes."""
    return {
        **report.fields,
        "conditions": merge(old_conditions, report.conditions, generation, now),
    }


def differs(wanted: Any, shown: Any) -> bool:
    """Whether what we want to show is not all shown. What others show beside it does not matter.

    Lists of conditions are compared by type, other lists as a whole.
    """
    if isinstance(wanted, Mapping):
        if not isinstance(shown, Mapping):
            return True
        return any(differs(value, shown.get(field)) for field, value in wanted.items())
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], Mapping) and "type" in wanted[0]:
        return any(differs(condition, find(shown or (), condition["type"])) for condition in wanted)
    return bool(wanted != shown)
