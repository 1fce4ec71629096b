from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.scaling.facts import QueueFacts
from stanchion.scaling.history import ScaleEvent
from stanchion_operator.decide.conditions import merge
from stanchion_operator.decide.measured import conditions, fields, restored_events, worth_writing

NOW = 1_700_000_000.0
POLICY = QueuePolicy.from_manifest({"metadata": {"name": "q"}, "spec": {"latencyTargetSeconds": 10}})


def status(waiting: int = 100, age: float = 1.0, events: int = 0, at: float = NOW) -> dict[str, Any]:
    facts = QueueFacts("q", at, waiting=waiting, oldest_age_seconds=age)
    history = [ScaleEvent(NOW + n, n, n + 1) for n in range(events)]
    shown = fields(POLICY, facts, None, None, history, "why", at)
    return shown | {"conditions": merge([], conditions(POLICY, facts, None), 1, NOW)}


@pytest.mark.parametrize(
    ("wanted", "written"),
    [
        (status(at=NOW + 60), False),  # nothing moved: the time of the sample alone is no news
        (status(waiting=105, at=NOW + 60), False),  # 5 % is no news
        (status(waiting=150, at=NOW + 5), False),  # too soon
        (status(waiting=150, at=NOW + 31), True),
        (status(events=1, at=NOW + 1), True),  # a scale event is news at once
        (status(age=11.0, at=NOW + 1), True),  # so is a condition
    ],
)
def test_figures_are_written_when_they_moved_and_news_at_once(wanted: dict[str, Any], written: bool) -> None:
    now = datetime.fromisoformat(wanted["sampledAt"]).timestamp()
    assert worth_writing(wanted, status(), now) is written


def test_without_facts_nothing_is_claimed() -> None:
    said = {condition.type: condition.status for condition in conditions(POLICY, None, None)}
    assert said == {"LatencyTargetMet": None, "Paused": None}
    assert fields(POLICY, None, None, None, (), "", NOW) == {}


def test_scale_events_survive_a_restart() -> None:
    shown = status(events=3)
    assert restored_events(shown) == [ScaleEvent(NOW + n, n, n + 1) for n in range(3)]
    assert len(status(events=50)["scaleEvents"]) == 20


def test_latency_reads_like_an_hpas_target() -> None:
    assert status(age=6.6)["latency"] == "7s/10s"


@given(st.integers(0, 10**6), st.floats(0, 1e5))
def test_what_was_just_written_is_not_written_again(waiting: int, age: float) -> None:
    assert not worth_writing(status(waiting, age), status(waiting, age), NOW + 3600)
