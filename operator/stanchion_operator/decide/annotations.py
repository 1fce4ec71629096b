"""The annotations by which an operator on call speaks to us without changing the spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PREFIX = "stanchion.dev/"


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders about scaling, ownership and deletion. A flag is given by the value `true`."""

    paused: bool = False
    """Scaling stands still (the queue's own pause is `spec.paused`)."""
    paused_replicas: int | None = None
    """Scaling stands still at this number."""
    paused_scale_in: bool = False
    paused_scale_out: bool = False
    take_over: bool = False
    """Take the config hash or the number of replicas from whoever has it."""
    force_delete: bool = False
    """Delete the queue although jobs remain, or let go although Redis cannot be reached."""
    problems: tuple[str, ...] = ()
    """Annotations that could not be read; they are reported, not obeyed."""


FLAGS = ("paused", "paused-scale-in", "paused-scale-out", "take-over", "force-delete")


def read(manifest: Mapping[str, Any]) -> Orders:
    """The orders on one object."""
    annotations: Mapping[str, str] = manifest["metadata"].get("annotations") or {}
    flags: dict[str, bool] = {}
    problems: list[str] = []
    for name in FLAGS:
        value = annotations.get(PREFIX + name, "false")
        flags[name.replace("-", "_")] = value == "true"
        if value not in ("true", "false"):
            problems.append(f"{PREFIX}{name} must be true or false, not {value!r}")
    count = annotations.get(PREFIX + "paused-replicas")
    if count is not None and not count.isdecimal():
        problems.append(f"{PREFIX}paused-replicas must be a whole number, not {count!r}")
        count = None
    return Orders(
        **flags,
        paused_replicas=None if count is None else int(count),
        problems=tuple(problems),
    )
