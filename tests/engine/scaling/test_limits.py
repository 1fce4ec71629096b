"""The HPA's own tables: policies, bounds and stabilization (facts from its published unit tests)."""

from __future__ import annotations

import pytest

from stanchion.scaling.behavior import Behavior, Policy, Rules
from stanchion.scaling.history import Recommendation, ScaleEvent
from stanchion.scaling.limits import down_limit, remember, stabilize, up_limit

NOW = 10_000.0
HPA_UP = (Policy("Pods", 4, 15), Policy("Percent", 100, 15))


def added(pods: int, age: float = 1) -> ScaleEvent:
    return ScaleEvent(NOW - age, 1, 1 + pods)


def removed(pods: int, age: float = 1) -> ScaleEvent:
    return ScaleEvent(NOW - age, pods, 0)


def pods(value: int, period_seconds: int = 60) -> Policy:
    return Policy("Pods", value, period_seconds)


def percent(value: int, period_seconds: int = 60) -> Policy:
    return Policy("Percent", value, period_seconds)


@pytest.mark.parametrize(
    ("current", "policies", "select", "events", "limit"),
    [
        (10, HPA_UP, "Max", [], 20),
        (1, HPA_UP, "Max", [], 5),
        (10, (pods(2), percent(100)), "Max", [], 20),
        (10, (pods(30),), "Max", [], 40),
        (1, (pods(2), percent(50)), "Min", [], 2),
        (100, (pods(5, 120),), "Max", [added(15)], 100),
        (100, (percent(200, 120),), "Max", [added(15)], 255),
        (6, (percent(300, 300),), "Max", [added(4), removed(2)], 16),
        (100, (percent(10),), "Max", [], 110),
        (1, (percent(900, 15),), "Max", [], 10),
        (7, (pods(5),), "Disabled", [], 7),
        (10, (pods(5, 60),), "Max", [added(5, age=60)], 15),
        (10, (pods(5, 60),), "Max", [added(5, age=59.9)], 10),
    ],
)
def test_scale_out_policies(
    current: int, policies: tuple[Policy, ...], select: str, events: list[ScaleEvent], limit: int
) -> None:
    rules = Rules(0, policies, select)  # type: ignore[arg-type]
    assert up_limit(current, events, rules, NOW) == limit


@pytest.mark.parametrize(
    ("current", "policies", "select", "events", "limit"),
    [
        (100, (pods(20), percent(1)), "Max", [], 80),
        (10, (pods(5),), "Max", [], 5),
        (100, (percent(50, 120),), "Max", [removed(12)], 56),
        (100, (percent(10, 120),), "Max", [removed(30)], 100),
        (1000, (pods(20),), "Max", [], 980),
        (10, (percent(80),), "Max", [], 2),
        (9, (percent(25),), "Max", [], 6),
        (10, (pods(5), percent(10)), "Min", [], 9),
        (10, (pods(5),), "Disabled", [], 10),
    ],
)
def test_scale_in_policies(
    current: int, policies: tuple[Policy, ...], select: str, events: list[ScaleEvent], limit: int
) -> None:
    rules = Rules(0, policies, select)  # type: ignore[arg-type]
    assert down_limit(current, events, rules, NOW) == limit


def test_waking_from_zero_does_not_bar_the_next_step() -> None:
    woken = ScaleEvent(NOW - 5, 0, 1)
    assert up_limit(1, [woken], Rules(0, (percent(900, 15),)), NOW) == 10


def test_removals_within_the_period_count_against_it() -> None:
    events = [removed(8), removed(12), removed(9), removed(11)]
    assert down_limit(100, events, Rules(0, (pods(1000, 60),)), NOW) < 5


HISTORY = [(10, 10.0), (4, 1.0), (5, 2.0), (9, 9.0)]
OLD = 100 * 60.0


@pytest.mark.parametrize(
    ("current", "desired", "history", "up_seconds", "down_seconds", "expected"),
    [
        (5, 5, [], 0, 300, 5),
        (1, 7, HISTORY, 300, 300, 4),
        (1, 3, [(4, 1.0), (5, 2.0)], 0, 300, 3),
        (2, 1, [(2, OLD), (3, 3.0)], 300, 300, 2),
        (100, 3, HISTORY, 0, 180, 10),
        (100, 3, [(10, 180.0), (4, 1.0), (5, 2.0)], 0, 180, 5),
        (8, 2, [(6, 299.0)], 0, 0, 2),
    ],
)
def test_stabilization(
    current: int,
    desired: int,
    history: list[tuple[int, float]],
    up_seconds: int,
    down_seconds: int,
    expected: int,
) -> None:
    behavior = Behavior(Rules(up_seconds, HPA_UP), Rules(down_seconds, (percent(100, 15),)))
    recommendations = [Recommendation(NOW - age, replicas) for replicas, age in history]
    assert stabilize(desired, current, recommendations, behavior, NOW) == expected


def test_events_are_kept_for_the_longest_period_of_their_own_direction() -> None:
    behavior = Behavior(Rules(0, (pods(1, 60), pods(1, 30))), Rules(0, (pods(1, 20),)))
    old, fresh = added(7, age=61), added(6, age=59)
    late_removal, new = removed(3, age=25), added(5, age=0)
    assert remember([old, fresh, late_removal], new, behavior, NOW) == (fresh, new)
    assert remember([old, fresh], None, behavior, NOW) == (fresh,)


def test_behavior_reads_the_stanza_and_fills_in_our_defaults() -> None:
    behavior = Behavior.from_spec(
        {
            "scaleUp": {"policies": [{"type": "Pods", "value": 2, "periodSeconds": 30}], "tolerance": "50m"},
            "scaleDown": {"stabilizationWindowSeconds": 0, "selectPolicy": "Disabled", "tolerance": "0.2"},
        }
    )
    assert behavior.up == Rules(0, (Policy("Pods", 2, 30),), "Max", 0.05)
    assert behavior.down == Rules(0, (Policy("Percent", 100, 15),), "Disabled", 0.2)
    assert Behavior.from_spec(None) == Behavior() == Behavior.from_spec({})
