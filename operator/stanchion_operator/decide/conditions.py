"""Conditions: what we say about a policy, and when each last changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Json = Mapping[str, Any]
MESSAGE_LIMIT = 32768


@dataclass(frozen=True, slots=True)
class Condition:
    """One statement. `status` None is `Unknown`; `reason` is CamelCase; `message` is for people."""

    type: str
    status: bool | None
    reason: str
    message: str = ""

    @property
    def status_text(self) -> str:
        """As the API writes it."""
        return {True: "True", False: "False", None: "Unknown"}[self.status]


def merge(old: Iterable[Json], new: Iterable[Condition], generation: int, now: float) -> list[dict[str, Any]]:
    """The conditions to write, sorted by type. The transition time moves only with the status."""
    before = {condition["type"]: condition for condition in old}
    return [
        {
            "type": condition.type,
            "status": condition.status_text,
            "reason": condition.reason,
            "message": condition.message[:MESSAGE_LIMIT],
            "observedGeneration": generation,
            "lastTransitionTime": _transition_time(before.get(condition.type), condition, now),
        }
        for condition in sorted(new, key=lambda condition: condition.type)
    ]


def transitions(old: Iterable[Json], new: Iterable[Json]) -> list[Json]:
    """The conditions whose status or reason differs from before: each is worth one event."""
    before = {condition["type"]: (condition["status"], condition["reason"]) for condition in old}
    return [
        condition
        for condition in new
        if before.get(condition["type"]) != (condition["status"], condition["reason"])
    ]


def find(conditions: Iterable[Json], kind: str) -> Json | None:
    """The condition of that type, if there is one."""
    return next((condition for condition in conditions if condition["type"] == kind), None)


def timestamp(now: float) -> str:
    """RFC 3339, UTC, whole seconds, as Kubernetes writes times. `now` is in epoch seconds."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _transition_time(before: Json | None, condition: Condition, now: float) -> str:
    if before is not None and before["status"] == condition.status_text:
        return str(before["lastTransitionTime"])
    return timestamp(now)
