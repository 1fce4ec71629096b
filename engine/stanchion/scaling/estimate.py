"""Rates and times from a row of facts: what the control law needs to know about a queue.

Called by `autoscaler.step` with the samples it kept. Counters are differenced over windows; an interval
in which a counter fell or the clock went back (flushed Redis, fail-over) is never used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stanchion.scaling.facts import QueueFacts

SHORT_WINDOW_SECONDS = 25.0
"""Window of the quick arrival rate. Shorter ones see the lumps of heartbeats and batches."""
LONG_WINDOW_SECONDS = 120.0
"""Window of the steady arrival rate and of the service time."""
MIN_SPAN_SECONDS = 20.0
"""A rate is never taken over less: right after the start a burst would look like a steady flood.
Until then it is too low, which the backlog term makes up for and the scale-in window forgives."""
DEFAULT_SERVICE_SECONDS = 1.0
"""Assumed run time of a job before any has been measured."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Rates are per second and over eligible work only; times are in seconds."""

    arrival_rate: float
    """The larger of the rates over the short and the long window: quick to rise, slow to fall. 0 once the
    queue is idle and nothing came within the short window: then the past is over, and how long to wait for
    more is the scale-in window's to say, not that of two windows one after the other."""
    arrival_rate_short: float
    service_seconds: float
    """Mean run time of an attempt."""
    backlog: int
    oldest_age_seconds: float
    long_busy_slots: int
    """Slots held by jobs known to run longer than the latency target: no help for those who wait."""
    due_rate: float
    """Scheduled and retried jobs that fall due within the lead time, as a rate."""


def record(samples: Sequence[QueueFacts], facts: QueueFacts, tick_seconds: float) -> tuple[QueueFacts, ...]:
    """The samples of one queue with `facts` added, without those too old or from before a reset.

    A reset is a counter that fell or a clock that went back: a flushed Redis or a fail-over.
    """
    if samples and _is_reset(samples[-1], facts):
        samples = ()
    oldest_needed = facts.at_seconds - LONG_WINDOW_SECONDS - tick_seconds
    return (*(sample for sample in samples if sample.at_seconds >= oldest_needed), facts)


def estimate(samples: Sequence[QueueFacts], *, target_seconds: float, lead_seconds: float) -> Estimate:
    """Estimate one queue from what `record` kept, oldest first; the last sample is now."""
    now = samples[-1]
    short = _arrival_rate(samples, SHORT_WINDOW_SECONDS)
    over = now.idle and not short
    return Estimate(
        arrival_rate=0.0 if over else max(short, _arrival_rate(samples, LONG_WINDOW_SECONDS)),
        arrival_rate_short=short,
        service_seconds=_service_seconds(samples),
        backlog=now.waiting,
        oldest_age_seconds=max(0.0, now.oldest_age_seconds) if now.waiting else 0.0,
        long_busy_slots=_long_busy_slots(now, target_seconds),
        due_rate=0.0 if now.paused else now.due_soon / lead_seconds,
    )


def _is_reset(before: QueueFacts, after: QueueFacts) -> bool:
    return (
        after.at_seconds <= before.at_seconds
        or after.eligible < before.eligible
        or after.done < before.done
        or after.busy_ms < before.busy_ms
    )


def _long_busy_slots(now: QueueFacts, target_seconds: float) -> int:
    p95 = now.runtime_p95_seconds
    return sum(slots for job, slots in now.running.items() if p95.get(job, 0.0) > target_seconds)


def _window(samples: Sequence[QueueFacts], window_seconds: float) -> Sequence[QueueFacts]:
    since = samples[-1].at_seconds - window_seconds
    return [sample for sample in samples if sample.at_seconds >= since]


def _arrival_rate(samples: Sequence[QueueFacts], window_seconds: float) -> float:
    """Arrivals per second. A stranger's push (Ruby's LPUSH) does not count itself, so what the list and
    the completions show is taken where it is more."""
    window = _window(samples, window_seconds)
    first, last = window[0], window[-1]
    counted = last.eligible - first.eligible
    seen = (last.waiting + last.busy + last.done) - (first.waiting + first.busy + first.done)
    if first.paused != last.paused:
        seen = 0  # the backlog came into sight or out of it; nothing arrived
    span = max(last.at_seconds - first.at_seconds, MIN_SPAN_SECONDS)
    return max(counted, seen, 0) / span


def _service_seconds(samples: Sequence[QueueFacts]) -> float:
    """Mean run time of the attempts that ended in the long window; else the histogram's; else a guess."""
    window = _window(samples, LONG_WINDOW_SECONDS)
    first, last = window[0], window[-1]
    ended = last.done - first.done
    if ended > 0:
        return (last.busy_ms - first.busy_ms) / ended / 1000
    hint = last.service_hint_seconds
    return DEFAULT_SERVICE_SECONDS if hint is None else hint
