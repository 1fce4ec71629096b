"""One thing that a doctor has to say: how bad, what, why, and the next command."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Rank(IntEnum):
    """Critical: jobs are lost or cannot run now. Warning: they may be, or are late. Note: worth knowing."""

    CRITICAL = 0
    WARNING = 1
    NOTE = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """`cause` says how it comes and what it does; `next` is a command or a step."""

    rank: Rank
    what: str
    cause: str
    next: str
