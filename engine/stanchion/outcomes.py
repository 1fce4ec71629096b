"""What a job may raise to say how it ended, where returning or failing does not say it.

A job's `backoff` function may return the same. The worker turns each into a move of the job
(`worker/outcome.py`); raised outside of a job they are plain exceptions.
"""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from stanchion.durations import to_seconds


class JobOutcome(Exception):
    """Base of all. `reason` is for people: it is logged, and stands in the dead set."""

    unexplained: ClassVar[str] = "the job ended early"

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason or self.unexplained)
        self.reason = reason


class Retry(JobOutcome):
    """The attempt failed; the next one is due `in_seconds` from now, or when the job's back-off says.

    Counts like any failure: without retries left, the job goes to the dead set.
    """

    unexplained = "the job asked to be retried"

    def __init__(self, in_seconds: float | timedelta | None = None, reason: str = "") -> None:
        super().__init__(reason)
        self.in_seconds = to_seconds("in_seconds", in_seconds)


class Snooze(JobOutcome):
    """Not now: the job comes back `in_seconds` from now, and this attempt is not counted."""

    unexplained = "the job asked to run later"

    def __init__(self, in_seconds: float | timedelta, reason: str = "") -> None:
        super().__init__(reason)
        self.in_seconds = to_seconds("in_seconds", in_seconds)


class Interrupted(Snooze):
    """What `current_job().check_stopping()` raises when the worker stops: the job returns to the head of
    its queue at once, and this attempt is not counted. Raised while no worker stops, it is a failure.
    """

    unexplained = "the job gave way to a worker that stops"

    def __init__(self, reason: str = "") -> None:
        super().__init__(0, reason)


class Discard(JobOutcome):
    """There is nothing left to do: the job is gone, counted as discarded, and never in the dead set."""

    unexplained = "the job asked to be discarded"


class Kill(JobOutcome):
    """No retry can help: the job goes straight to the dead set, whatever retries it has left."""

    unexplained = "the job asked to be buried"
