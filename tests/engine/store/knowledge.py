"""What the participants of the engine's model know: a child of its jobs, a replica of its primary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stanchion.store.recovery import Member
from stanchion.store.trip import Ended, Leased, Reply, Trip

QUEUES = ("mail", "slow")


@dataclass(eq=False)
class Child:
    """What one child knows, and what its supervisor last heard from it."""

    identity: str
    incarnation: str
    number: int = 0
    held: dict[str, Leased] = field(default_factory=dict)
    batch: tuple[Ended, ...] = ()
    unanswered: Trip | None = None
    """Sent, and its reply was lost: it must be sent again."""
    lost_reply: Reply | None = None
    former: Trip | None = None
    reported: tuple[int, tuple[str, ...]] = (0, ())

    @property
    def member(self) -> Member:
        """As its own supervisor retires it."""
        return Member(self.identity, self.incarnation, QUEUES)


@dataclass(frozen=True)
class Memory:
    """All of Redis at one instant, and what was true then."""

    values: dict[bytes, Any]
    """Dump and remaining milliseconds."""
    accepted: frozenset[str]
    gone: frozenset[str]
