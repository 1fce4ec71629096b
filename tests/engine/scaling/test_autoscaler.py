"""Whole ticks: bounds, windows, zero, outage, restart, conditions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.errors import InvalidPolicy
from stanchion.scaling.autoscaler import Rider, ScalingSpec, step
from stanchion.scaling.behavior import Behavior, Policy, Rules
from stanchion.scaling.decision import Decision
from stanchion.scaling.facts import ProcessFacts, QueueFacts
from stanchion.scaling.history import ScaleEvent, ScalingState

SPEC = ScalingSpec(target_seconds=30, slots_per_replica=10, min_replicas=1, max_replicas=20)
TO_ZERO = replace(SPEC, min_replicas=0)
EMPTY = ScalingState.empty()
HPA = Behavior(up=Rules(0, (Policy("Pods", 4, 15), Policy("Percent", 100, 15))))


def backlog(waiting: int, at: float = 1000.0) -> QueueFacts:
    return QueueFacts("q", at, waiting=waiting, oldest_age_seconds=5, service_hint_seconds=1.0)


def run(
    spec: ScalingSpec, facts: list[QueueFacts | None], current: int, state: ScalingState = EMPTY
) -> list[Decision]:
    """Ticks five seconds apart that obey each decision."""
    decisions = []
    for tick, fact in enumerate(facts):
        moved = fact and replace(fact, at_seconds=1000.0 + 5 * tick)
        state, decision = step(state, spec, moved, current, now=5.0 * tick)
        current = decision.desired
        decisions.append(decision)
    return decisions


def test_a_backlog_is_answered_in_one_tick_and_explained() -> None:
    decision = run(SPEC, [backlog(600)], current=2)[0]
    assert decision.desired == 4
    assert decision.reason == "tail: 600 wait, oldest 5.0 s of 30 s, 1000 ms each: 40.0 slots = 4"
    assert decision.able_to_scale.reason == "ReadyForNewScale"
    assert decision.scaling_active.status
    assert (decision.scaling_limited.status, decision.scaling_limited.reason) == (False, "DesiredWithinRange")


def test_a_backlog_beyond_the_bounds_is_cut_and_says_so() -> None:
    decision = run(SPEC, [backlog(60_000)], current=3)[0]
    assert decision.desired == 20
    assert decision.scaling_limited.reason == "TooManyReplicas"


def test_the_default_scale_out_is_ten_fold_at_most() -> None:
    decision = run(SPEC, [backlog(60_000)], current=1)[0]
    assert decision.desired == 10
    assert decision.scaling_limited.reason == "ScaleUpLimit"


@pytest.mark.parametrize(
    ("current", "waiting", "bounds", "behavior", "desired", "reason"),
    [
        (100, 15_000, (100, 150), HPA, 150, "TooManyReplicas"),
        (10, 750, (1, 1000), HPA, 20, "ScaleUpLimit"),
        (10, 750, (1, 1000), Behavior(up=Rules(0, (Policy("Pods", 30, 15),))), 40, "ScaleUpLimit"),
        (10, 0, (1, 1000), Behavior(down=Rules(0, (Policy("Pods", 100, 15),))), 1, "TooFewReplicas"),
        (10, 30, (1, 1000), Behavior(down=Rules(0, (Policy("Pods", 5, 15),))), 5, "ScaleDownLimit"),
        (1000, 45, (3, 2000), Behavior(down=Rules(0, (Policy("Pods", 20, 60),))), 980, "ScaleDownLimit"),
        (10, 1500, (1, 20), HPA, 20, "TooManyReplicas"),
    ],
)
def test_the_limit_that_binds_is_named(
    current: int, waiting: int, bounds: tuple[int, int], behavior: Behavior, desired: int, reason: str
) -> None:
    spec = ScalingSpec(30, 1, *bounds, behavior)
    decision = run(spec, [backlog(waiting)], current)[0]
    assert (decision.desired, decision.scaling_limited.reason) == (desired, reason)


def test_scale_out_obeys_the_policies() -> None:
    spec = replace(SPEC, behavior=Behavior(up=Rules(0, (Policy("Pods", 1, 15),))))
    decisions = run(spec, [backlog(900)] * 4, current=2)
    assert [decision.desired for decision in decisions] == [3, 3, 3, 4]
    assert decisions[0].scaling_limited.reason == "ScaleUpLimit"
    assert decisions[0].reason.endswith("= 6, now 3 (ScaleUpLimit)")


def test_scale_in_waits_for_the_highest_number_of_its_window() -> None:
    decisions = run(SPEC, [backlog(600), *[backlog(0)] * 30], current=2)
    desired = [decision.desired for decision in decisions]
    assert desired[:24] == [4] * 24
    assert desired[24] == 1
    assert decisions[1].able_to_scale.reason == "ScaleDownStabilized"


def test_after_a_restart_the_present_number_counts_as_a_recommendation() -> None:
    decisions = run(SPEC, [backlog(0)] * 26, current=8)
    assert [decision.desired for decision in decisions[:24]] == [8] * 24
    assert decisions[24].desired == 1


def test_events_of_an_earlier_life_still_limit() -> None:
    spec = replace(SPEC, behavior=Behavior(up=Rules(0, (Policy("Pods", 5, 120),))))
    state = EMPTY.with_events([ScaleEvent(-20.0, 1, 6)])
    assert run(spec, [backlog(3000)], current=6, state=state)[0].desired == 6


@pytest.mark.parametrize(("current", "expected"), [(25, 20), (0, 1)])
@pytest.mark.parametrize("facts", [None, backlog(0)], ids=["no facts", "facts"])
def test_bounds_are_restored_at_once(current: int, expected: int, facts: QueueFacts | None) -> None:
    decision = run(SPEC, [facts], current=current)[0]
    assert decision.desired == expected
    assert decision.scaling_limited.status


def test_without_facts_the_number_holds() -> None:
    decisions = run(SPEC, [backlog(600), *[None] * 100], current=2)
    assert {decision.desired for decision in decisions} == {4}
    last = decisions[-1]
    assert (last.scaling_active.status, last.scaling_active.reason) == (False, "FailedGetExternalMetric")
    assert (last.estimate, last.demand) == (None, None)


def test_after_an_outage_scale_in_waits_a_full_window() -> None:
    decisions = run(SPEC, [backlog(0), *[None] * 60, *[backlog(0)] * 26], current=8)
    desired = [decision.desired for decision in decisions]
    assert desired[:84] == [8] * 84
    assert desired[-1] == 1


@pytest.mark.parametrize(("current", "expected"), [(0, 4), (2, 4), (9, 9)])
def test_a_fallback_raises_but_never_lowers_and_starts_by_duration(current: int, expected: int) -> None:
    spec = replace(TO_ZERO, fallback_replicas=4, fallback_after_seconds=180)
    decisions = run(spec, [None] * 40, current=current)
    assert [decision.desired for decision in decisions[:36]] == [current] * 36
    assert decisions[36].desired == expected
    assert "fallback" in decisions[36].reason


def test_waking_from_zero_goes_straight_to_the_computed_number() -> None:
    spec = replace(TO_ZERO, behavior=Behavior(up=Rules(300, (Policy("Pods", 1, 60),))))
    decision = run(spec, [backlog(0), backlog(1500)], current=0)[1]
    assert decision.desired == decision.demand.replicas == 18  # type: ignore[union-attr]


def process(busy: int) -> ProcessFacts:
    return ProcessFacts("host:1:a", "host", 1, 10, busy, False, ("q", "other"), 0.0)


@pytest.mark.parametrize(
    "last",
    [
        replace(backlog(0), busy=1),
        replace(backlog(0), due_soon=1),
        replace(backlog(0), processes=(process(busy=1),)),
        backlog(1),
    ],
    ids=["a slot of the queue", "due soon", "a slot of its process", "waiting"],
)
def test_zero_needs_that_nothing_waits_runs_or_is_due(last: QueueFacts) -> None:
    idle = replace(backlog(0), processes=(process(busy=0),))
    assert run(TO_ZERO, [idle] * 30, current=2)[-1].desired == 0
    assert run(TO_ZERO, [*[idle] * 20, *[last] * 30], current=2)[-1].desired == 1


def test_due_work_wakes_the_queue_before_its_time() -> None:
    assert run(TO_ZERO, [replace(backlog(0), due_soon=900)], current=0)[0].desired == 3


def test_riders_add_their_demand_and_keep_the_workers_from_zero() -> None:
    other = QueueFacts("other", 1000.0, waiting=450, service_hint_seconds=1.0)
    _, decision = step(EMPTY, SPEC, backlog(150), 1, 0.0, riders=[Rider(other, target_seconds=30)])
    assert decision.desired == 4
    state, quiet = EMPTY, replace(other, waiting=0, busy=1)
    for tick in range(30):
        facts = backlog(0, at=1000.0 + 5 * tick)
        rider = Rider(replace(quiet, at_seconds=facts.at_seconds), 30)
        state, decision = step(state, TO_ZERO, facts, 1, 5.0 * tick, riders=[rider])
    assert decision.desired == 1


def test_crossed_bounds_are_refused() -> None:
    with pytest.raises(InvalidPolicy, match="minReplicas"):
        replace(SPEC, min_replicas=21)


facts_strategy = st.one_of(
    st.none(),
    st.builds(
        QueueFacts,
        queue=st.just("q"),
        at_seconds=st.just(0.0),
        waiting=st.integers(0, 10**6),
        oldest_age_seconds=st.floats(-10, 1e5),
        busy=st.integers(0, 1000),
        eligible=st.integers(0, 10**6),
        done=st.integers(0, 10**6),
        busy_ms=st.integers(0, 10**9),
        due_soon=st.integers(0, 1000),
        paused=st.booleans(),
    ),
)


@given(st.lists(facts_strategy, min_size=1, max_size=30), st.integers(0, 50), st.integers(0, 20))
def test_whatever_happens_the_number_stays_within_bounds_and_never_falls_blind(
    facts: list[QueueFacts | None], current: int, min_replicas: int
) -> None:
    spec = replace(SPEC, min_replicas=min_replicas)
    for fact, decision in zip(facts, run(spec, facts, current), strict=True):
        assert min_replicas <= decision.desired <= 20
        if fact is None:
            assert decision.desired >= min(decision.current, 20)


@given(st.integers(0, 10**5), st.integers(1, 20))
def test_unchanged_facts_lead_to_one_number_and_stay_there(waiting: int, current: int) -> None:
    desired = [decision.desired for decision in run(SPEC, [backlog(waiting)] * 60, current)]
    assert len(set(desired[30:])) == 1
