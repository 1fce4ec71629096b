"""How long a failed job waits for its next attempt: Sidekiq's formula, or the job's own back-off function.

Called on the child's event loop; a back-off function has to be quick and must not wait.
"""

from __future__ import annotations

import logging
from random import Random
from typing import Any, TypeGuard

from stanchion.durations import to_seconds
from stanchion.errors import InvalidArguments
from stanchion.job_options import Backoff
from stanchion.outcomes import Discard, Interrupted, JobOutcome, Kill, Retry, Snooze

BASE_SECONDS = 15
OUTCOMES = (Retry, Snooze, Discard, Kill)
"""What a back-off function may return instead: another outcome would only lead back to it."""

log = logging.getLogger("stanchion.worker")


def sidekiqs(count: int, rng: Random) -> float:
    """Sidekiq's back-off: count⁴ + 15 s, and a jitter of up to 10 · (count + 1) s."""
    return count**4 + BASE_SECONDS + rng.random() * 10 * (count + 1)


def of(error: BaseException, backoff: Backoff | None, rng: Random, count: int) -> float | JobOutcome:
    """Seconds to wait, or what to do instead. A Retry that names its time is obeyed, else `backoff` is
    asked, with `count` failures before this one; one that raises or makes no sense is logged, and
    Sidekiq's formula holds.
    """
    if isinstance(error, Retry) and error.in_seconds is not None:
        return error.in_seconds
    wanted = None if backoff is None else _ask(backoff, count, error)
    if isinstance(wanted, Retry):
        wanted = wanted.in_seconds
    if isinstance(wanted, JobOutcome):
        wanted.__cause__ = error
    return sidekiqs(count, rng) if wanted is None else wanted


def _ask(backoff: Backoff, count: int, error: BaseException) -> float | JobOutcome | None:
    try:
        wanted: Any = backoff(count, error)
        return wanted if _is_outcome(wanted) else to_seconds("a delay", wanted)
    except InvalidArguments as trouble:
        log.error("the back-off function is ignored, Sidekiq's formula holds: %s", trouble)
    except BaseException:  # code of the application: whatever it raises, the job has to go somewhere
        log.exception("the back-off function failed, Sidekiq's formula holds")
    return None


def _is_outcome(wanted: object) -> TypeGuard[JobOutcome]:
    return isinstance(wanted, OUTCOMES) and not isinstance(wanted, Interrupted)
