"""The gate's answer to one push, as the caller of `enqueue` gets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["enqueued", "scheduled", "duplicate", "replaced", "follow_up", "parked", "refused"]

NOT_ACCEPTED: frozenset[Status] = frozenset({"duplicate", "refused"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one call."""

    status: Status
    jid: str
    """The id of the job this call was about."""
    holder: str | None = None
    """The id of the job that holds the lock, where one stood in the way."""
    until: float | None = None
    """Epoch seconds: when a scheduled job is due, or until when the holder holds."""
    reason: str | None = None
    """Why, where the status alone does not say."""

    @property
    def accepted(self) -> bool:
        """Whether this job will run: everything but a duplicate and a refusal."""
        return self.status not in NOT_ACCEPTED
