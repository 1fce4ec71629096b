"""What the views show: frozen snapshots of the queues and the last things that happened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from stanchion.store.queues import SetSizes

NO_SETS = SetSizes()


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """One queue at one moment. Figures are None while Redis cannot be read."""

    queue: str
    target_seconds: float | None
    """None: nothing here declares the queue."""
    running: int
    """Workers that take jobs; one that still starts is not counted."""
    wanted: int
    draining: int = 0
    age_seconds: float | None = None
    waiting: int | None = None
    busy: int | None = None
    rate_per_second: float | None = None
    paused: bool = False
    reason: str = ""
    rides_on: str = ""
    """The queue whose workers serve this one too; then the three numbers are that one's."""
    runs_here: bool = True
    """We start workers for it."""
    elsewhere: int = 0
    """Processes that serve a queue for which we start none."""

    @property
    def late(self) -> bool:
        """The oldest job has waited longer than promised."""
        if self.age_seconds is None or self.target_seconds is None:
            return False
        return self.age_seconds > self.target_seconds

    @property
    def unserved(self) -> bool:
        """Jobs wait, and nobody is there who would ever take them."""
        return bool(self.waiting) and not self.runs_here and not self.elsewhere


@dataclass(frozen=True, slots=True)
class Happening:
    """Something worth a line: a change of the number of workers, a problem, a worker's words."""

    at: datetime
    source: str
    text: str
    alarming: bool = False


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Everything a view needs."""

    redis_url: str
    queues: tuple[QueueStatus, ...]
    strays: tuple[QueueStatus, ...] = ()
    """Queues with waiting jobs that nothing here declares and nobody serves, the longest first."""
    further_strays: int = 0
    """How many more there are."""
    set_sizes: SetSizes = NO_SETS
    """The jobs in no queue: of the whole Redis, as of the last time it could be read."""
    draining: bool = False
    """Ctrl-C was pressed: the workers finish what they hold."""
