"""The one line a worker logs when a job ended: what became of it, and how long it took.

Called inside the job, so that the line carries its id, name, queue and tenant as every line of the job does.
"""

from __future__ import annotations

import logging
import traceback

from stanchion.errors import TimeLimitExceeded, UnfitPayload, UnknownJob
from stanchion.outcomes import JobOutcome
from stanchion.store.trip import Kind
from stanchion.worker.failure import Failure
from stanchion.worker.outcome import Outcome

log = logging.getLogger("stanchion.jobs")
"""A logger of its own, so that it can be told apart and turned down."""

LEVELS = {
    Kind.DONE: logging.INFO,
    Kind.SNOOZE: logging.INFO,
    Kind.DISCARD: logging.INFO,
    Kind.EXPIRED: logging.WARNING,
    Kind.RETRY: logging.WARNING,
    Kind.DEAD: logging.ERROR,
}

OF_THE_WORKER = (UnknownJob, UnfitPayload, TimeLimitExceeded)
"""Errors that the worker raises on a job's behalf."""


def ended(outcome: Outcome, error: BaseException | None, *, milliseconds: int, now: float) -> None:
    """Log the end of an attempt; `now` in epoch seconds. Never raises: a filter or an error's own text that
    does would cost the job its outcome, and its slot for ever.
    """
    try:
        _log(outcome, error, milliseconds, now)
    except Exception:
        traceback.print_exc()


def _log(outcome: Outcome, error: BaseException | None, milliseconds: int, now: float) -> None:
    level = logging.ERROR if outcome.failed and outcome.kind is Kind.DISCARD else LEVELS[outcome.kind]
    if not log.isEnabledFor(level):
        return
    words = in_words(outcome, now)
    if error is not None:
        words = f"{words}: {Failure.of(error)}"
    log.log(
        level,
        "%s",
        words,
        exc_info=_shown(error),
        extra={"elapsed_ms": milliseconds, "outcome": str(outcome.kind)},
    )


def in_words(outcome: Outcome, now: float) -> str:
    """What became of the job, for people."""
    match outcome.kind:
        case Kind.DONE:
            return "done"
        case Kind.SNOOZE:
            return f"comes back in {outcome.at_seconds - now:.1f} s"
        case Kind.EXPIRED:
            return "not run: it is past its expiry"
        case Kind.RETRY:
            return f"failed, next attempt in {outcome.at_seconds - now:.1f} s"
        case Kind.DEAD:
            return "failed, now in the dead set"
        case Kind.DISCARD:
            return "failed and dropped" if outcome.failed else "discarded"


def _shown(error: BaseException | None) -> BaseException | None:
    """The error whose stack helps: none for an outcome that was raised on purpose, nor for a job that could
    not begin or was ended at its limit, whose stack would be the worker's."""
    shown = error.__cause__ if isinstance(error, JobOutcome) else error
    return None if isinstance(shown, OF_THE_WORKER) else shown
