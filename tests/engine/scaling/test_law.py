"""The demand of a queue: each term, their sum, and the rounding to replicas."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.scaling.estimate import Estimate
from stanchion.scaling.law import combine, demand, replicas_for

QUIET = Estimate(0, 0, 1.0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("estimate", "slots", "term"),
    [
        (QUIET, 0, "none"),
        (replace(QUIET, arrival_rate=80, service_seconds=0.05), 5, "steady"),
        (replace(QUIET, backlog=300, oldest_age_seconds=1), 20, "tail"),
        (replace(QUIET, backlog=300, arrival_rate=10, arrival_rate_short=10), 30, "tail"),
        (replace(QUIET, backlog=15, arrival_rate=80, arrival_rate_short=2), 100, "steady"),
        (replace(QUIET, long_busy_slots=7), 7, "long"),
        (replace(QUIET, due_rate=3), 3, "due"),
        (replace(QUIET, due_rate=3, arrival_rate=8, long_busy_slots=2), 15, "steady"),
    ],
)
def test_terms(estimate: Estimate, slots: float, term: str) -> None:
    asked = demand(estimate, target_seconds=30)
    assert asked.slots == pytest.approx(slots)
    assert asked.winning_term == term


@pytest.mark.parametrize(
    ("slots", "current", "replicas"),
    [
        (0, 0, 0),
        (0.01, 0, 1),
        (30, 0, 3),
        (30.0000000001, 0, 3),
        (31, 0, 4),
        (99, 10, 10),
        (90, 10, 10),
        (110, 10, 10),
        (111, 10, 12),
        (89, 10, 9),
        (0, 10, 0),
    ],
)
def test_replicas(slots: float, current: int, replicas: int) -> None:
    assert replicas_for(slots, 10, current) == replicas


def test_queues_that_share_workers_add_up_and_the_largest_names_the_term() -> None:
    small = demand(replace(QUIET, arrival_rate=8), target_seconds=30)
    large = demand(replace(QUIET, backlog=450), target_seconds=30)
    both = combine([small, large], slots_per_replica=10, current_replicas=1)
    assert (both.slots, both.replicas, both.winning_term) == (40, 4, "tail")


estimates = st.builds(
    Estimate,
    arrival_rate=st.floats(0, 1e4),
    arrival_rate_short=st.floats(0, 1e4),
    service_seconds=st.floats(0.001, 600),
    backlog=st.integers(0, 10**7),
    oldest_age_seconds=st.floats(0, 1e5),
    long_busy_slots=st.integers(0, 1000),
    due_rate=st.floats(0, 1000),
)


@given(estimates, st.floats(1, 3600), st.integers(1, 100), st.integers(0, 500), st.integers(1, 10**6))
def test_more_backlog_never_asks_for_fewer(
    estimate: Estimate, target_seconds: float, slots_per_replica: int, current: int, more: int
) -> None:
    def replicas(backlog: int) -> int:
        asked = demand(replace(estimate, backlog=backlog), target_seconds=target_seconds)
        return combine([asked], slots_per_replica=slots_per_replica, current_replicas=current).replicas

    assert replicas(estimate.backlog + more) >= replicas(estimate.backlog)


@given(estimates, st.floats(1, 3600), st.integers(1, 100), st.integers(0, 500))
def test_the_answer_is_a_fixed_point(
    estimate: Estimate, target_seconds: float, slots_per_replica: int, current: int
) -> None:
    asked = demand(estimate, target_seconds=target_seconds)
    once = combine([asked], slots_per_replica=slots_per_replica, current_replicas=current).replicas
    again = combine([asked], slots_per_replica=slots_per_replica, current_replicas=once).replicas
    assert again == once


@given(estimates, st.floats(1, 3600))
def test_the_condition_of_a_late_head_is_never_more_than_the_tail(
    estimate: Estimate, target_seconds: float
) -> None:
    """Why `demand` does not compute it."""
    share, age, backlog = 0.5 * target_seconds, estimate.oldest_age_seconds, estimate.backlog
    if backlog and age > share:
        head = backlog / age * (1 + (age - share) / share)
        assert demand(estimate, target_seconds=target_seconds).rate_per_second >= head * (1 - 1e-9)
