"""The control law: how many slots, and so replicas, keep the oldest job within its latency target.

Demand is absolute – computed from rate, run time and backlog, never from the present number – so that
repeating a tick with the same facts gives the same answer: no wind-up, no oscillation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stanchion.scaling.estimate import Estimate

UTILIZATION = 0.8
"""Share of the slots that may be busy under steady load; the rest absorbs the randomness of arrivals."""
TAIL_SHARE = 0.5
"""The backlog is to be gone within this share of the target, which leaves the rest for starting pods."""
TOLERANCE = 0.1
"""HPA's default: within ±10 % of what the present replicas serve, the number stays."""
ROUNDING = 1e-9
"""Slack for binary floating point, so that exactly 3 replicas' worth of slots is not 4."""

Term = Literal["steady", "tail", "due", "long", "none"]


@dataclass(frozen=True, slots=True)
class Demand:
    """What a queue, or the queues of one set of workers, ask for before any limit."""

    rate_per_second: float
    slots: float
    winning_term: Term
    """steady: arrivals decide. tail: the backlog does. due: only scheduled work is coming. long: only
    long jobs run. none: nothing to do."""
    replicas: int = 0
    """Filled by `combine`, which knows the size of a replica."""


def demand(estimate: Estimate, *, target_seconds: float) -> Demand:
    """Demand of one queue in slots.

    With λ the arrival rate, Q the backlog, s the run time, T the target, ρ `UTILIZATION`, h `TAIL_SHARE`:

        steady = λ / ρ                       keep up
        tail   = Q / (h·T) + λ_short         the job arriving now starts within h·T    (if Q > 0)
        rate   = max(steady, tail) + due rate
        slots  = long-running slots + rate·s                                           (Little's law)

    A third condition, "bring a late head of age A back to h·T within h·T", reads (Q/A)·(1 + (A − h·T)/(h·T))
    = Q/(h·T): never more than the tail, so it is not computed.
    """
    steady = estimate.arrival_rate / UTILIZATION
    tail = 0.0
    if estimate.backlog:
        tail = estimate.backlog / (TAIL_SHARE * target_seconds) + estimate.arrival_rate_short
    rate = max(steady, tail) + estimate.due_rate
    return Demand(
        rate_per_second=rate,
        slots=estimate.long_busy_slots + rate * estimate.service_seconds,
        winning_term=_winner(estimate, steady, tail),
    )


def combine(
    demands: Sequence[Demand],
    *,
    slots_per_replica: int,
    current_replicas: int,
    tolerance_up: float = TOLERANCE,
    tolerance_down: float = TOLERANCE,
) -> Demand:
    """The sum over the queues that share workers, in replicas; the term is that of the largest part."""
    slots = sum(part.slots for part in demands)
    return Demand(
        rate_per_second=sum(part.rate_per_second for part in demands),
        slots=slots,
        winning_term=max(demands, key=lambda part: part.slots).winning_term,
        replicas=replicas_for(slots, slots_per_replica, current_replicas, tolerance_up, tolerance_down),
    )


def _winner(estimate: Estimate, steady: float, tail: float) -> Term:
    if steady or tail:
        return "tail" if tail > steady else "steady"
    if estimate.due_rate:
        return "due"
    return "long" if estimate.long_busy_slots else "none"


def replicas_for(
    slots: float,
    slots_per_replica: int,
    current_replicas: int,
    tolerance_up: float = TOLERANCE,
    tolerance_down: float = TOLERANCE,
) -> int:
    """Replicas that hold `slots`; the present number where the difference is within tolerance."""
    if current_replicas > 0:
        ratio = slots / (slots_per_replica * current_replicas)
        if 1 - tolerance_down - ROUNDING <= ratio <= 1 + tolerance_up + ROUNDING:
            return current_replicas
    return math.ceil(slots / slots_per_replica - ROUNDING)
