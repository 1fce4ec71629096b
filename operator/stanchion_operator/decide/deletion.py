"""What to do with a QueuePolicy of deletionPolicy Delete that somebody has deleted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from stanchion_operator.decide.annotations import Orders
from stanchion_operator.errors import NotReady

GIVE_UP_SECONDS = 300.0
"""A Redis that stays away for so long holds up neither the deletion nor that of the namespace."""


class Move(Enum):
    """The next step of a deletion."""

    DELETE = auto()
    """Remove the queue's keys and let the object go."""
    GIVE_UP = auto()
    """Let the object go; what is left in Redis stays."""
    WAIT = auto()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A step, and why in a condition's words."""

    move: Move
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Remains:
    """Jobs that deleting the queue's keys would lose or orphan."""

    waiting: int
    delayed: bool
    """At least one job of the queue is scheduled or waits for a retry."""
    running: int

    @property
    def any(self) -> bool:
        """Whether any job remains."""
        return bool(self.waiting or self.delayed or self.running)


def decide(remains: Remains | NotReady | None, orders: Orders, waited_seconds: float) -> Verdict:
    """The step for a policy deleted `waited_seconds` ago. The order to force outranks a wait.

    `remains` is None where the queue is another policy's: then nothing of it is ours to wait for or delete.
    """
    if remains is None:
        return Verdict(Move.GIVE_UP, "QueueTaken", "another policy owns the queue: its keys stay")
    if isinstance(remains, NotReady):
        if orders.force_delete or waited_seconds >= GIVE_UP_SECONDS:
            return Verdict(
                Move.GIVE_UP, "RedisUnreachable", f"the queue's keys stay in Redis: {remains.message}"
            )
        return Verdict(
            Move.WAIT,
            remains.reason,
            f"{remains.message}; the deletion goes on without Redis after {GIVE_UP_SECONDS:.0f} s, "
            "or at once with the annotation stanchion.dev/force-delete: true",
        )
    if remains.any and not orders.force_delete:
        delayed = ", some scheduled or to be retried" if remains.delayed else ""
        return Verdict(
            Move.WAIT,
            "JobsRemain",
            f"{remains.waiting} jobs wait, {remains.running} run{delayed}; drain the queue, or set the "
            "annotation stanchion.dev/force-delete: true to delete them",
        )
    return Verdict(Move.DELETE, "Deleted", "the queue's keys were deleted")


def pushed_meanwhile() -> Verdict:
    """The wait for a job that was pushed between the count and the removal."""
    return Verdict(Move.WAIT, "JobsRemain", "a job was pushed while the queue's keys were to be deleted")
