"""What one call of `stanchion dev` was asked for. Made by the command line; read by session and runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stanchion.dev.declaration import Declaration
from stanchion.dev.group import Group, groups_of


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line asked for."""

    paths: tuple[Path, ...] = ()
    app: str | None = None
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    redis_url: str = ""
    once: bool = False
    """End when every queue is idle."""

    def groups(self, declared: Declaration) -> tuple[Group, ...]:
        """Who runs what. Raises CommandError for what does not fit together."""
        return groups_of(
            declared.queue_policies, app=self.app, commands=self.commands, redis_url=self.redis_url
        )
