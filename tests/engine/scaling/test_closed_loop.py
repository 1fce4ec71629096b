"""The law on a queue that answers back: a fluid model with a cold start, driven tick by tick."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from stanchion.scaling.autoscaler import ScalingSpec, step
from stanchion.scaling.behavior import DEFAULT_DOWN
from stanchion.scaling.estimate import SHORT_WINDOW_SECONDS
from stanchion.scaling.facts import QueueFacts
from stanchion.scaling.history import ScalingState

SLOTS, SERVICE_SECONDS, COLD_START_SECONDS = 5, 1.0, 30
SPEC = ScalingSpec(target_seconds=30, slots_per_replica=SLOTS, min_replicas=1, max_replicas=400)
TICK_SECONDS = 5


@dataclass
class Run:
    """What happened, second by second."""

    ages: list[float] = field(default_factory=list)
    replicas: list[int] = field(default_factory=list)

    @property
    def seconds_late(self) -> int:
        return sum(1 for age in self.ages if age > SPEC.target_seconds)

    @property
    def changes(self) -> int:
        return sum(
            1 for before, after in zip(self.replicas, self.replicas[1:], strict=False) if before != after
        )


def simulate(rate: Callable[[int], float], seconds: int, replicas: int, spec: ScalingSpec = SPEC) -> Run:
    """Jobs arrive at `rate(t)` and are served first come first served; a new replica is ready 30 s later."""
    run, state = Run(), ScalingState.empty()
    waiting: deque[list[float]] = deque()
    arrived = served = 0.0
    starting: list[int] = []
    ready = wanted = replicas
    for now in range(seconds):
        arrived += rate(now)
        waiting.append([now, rate(now)])
        ready, starting = ready + sum(at <= now for at in starting), [at for at in starting if at > now]
        capacity = ready * SLOTS / SERVICE_SECONDS
        while waiting and capacity >= waiting[0][1]:
            capacity -= waiting[0][1]
            served += waiting.popleft()[1]
        if waiting:
            waiting[0][1] -= capacity
            served += capacity
        age = now - waiting[0][0] if waiting else 0.0
        run.ages.append(age)
        run.replicas.append(wanted)
        if now % TICK_SECONDS == 0:
            facts = QueueFacts(
                *("q", float(now)),
                waiting=round(arrived - served),
                oldest_age_seconds=age,
                eligible=int(arrived),
                done=int(served),
                busy_ms=int(served * SERVICE_SECONDS * 1000),
            )
            state, decision = step(state, spec, facts, wanted, float(now))
            starting += [now + COLD_START_SECONDS] * max(0, decision.desired - wanted)
            ready = min(ready, decision.desired)
            wanted = decision.desired
    return run


def test_a_step_of_load_is_met_with_the_first_pods_and_settles() -> None:
    run = simulate(lambda now: 80.0 if 600 <= now < 2400 else 8.0, 3600, replicas=2)
    needed = 80 * SERVICE_SECONDS / SLOTS
    assert run.seconds_late <= 10
    assert max(run.replicas) <= 4 * needed
    steady = run.replicas[1200:2400]
    assert len(set(steady)) == 1
    assert needed < steady[0] <= needed / 0.8 + 1
    assert run.replicas[-1] <= 3


def test_a_spike_is_served_within_the_target_but_for_the_cold_start() -> None:
    run = simulate(lambda now: 600.0 if 600 <= now < 605 else 10.0, 1200, replicas=3)
    assert run.seconds_late <= 2 * COLD_START_SECONDS
    assert max(run.replicas) <= 100
    assert run.replicas[-1] == run.replicas[500]


@pytest.mark.parametrize("rate", [3.0, 20.0, 71.0])
def test_constant_load_comes_to_rest(rate: float) -> None:
    run = simulate(lambda now: rate, 1200, replicas=1)
    assert len(set(run.replicas[600:])) == 1
    assert run.seconds_late <= 2 * COLD_START_SECONDS
    assert max(run.ages[600:]) <= 1


def test_a_slow_ramp_is_followed_without_chatter() -> None:
    run = simulate(lambda now: 5 + now / 60, 3600, replicas=2)
    assert run.seconds_late == 0
    assert run.changes <= 40


def test_after_a_burst_the_last_replica_waits_one_window_and_not_two() -> None:
    run = simulate(lambda now: 100.0 if 60 <= now < 70 else 0.0, 420, 0, replace(SPEC, min_replicas=0))
    done = max(now for now, age in enumerate(run.ages) if age)
    gone = max(now for now, replicas in enumerate(run.replicas) if replicas)
    window = DEFAULT_DOWN.stabilization_window_seconds
    assert max(run.replicas) > 1
    assert window - TICK_SECONDS <= gone - done <= window + SHORT_WINDOW_SECONDS + 2 * TICK_SECONDS


def test_bursts_closer_than_the_window_keep_their_replicas() -> None:
    """The pause between them is no reason to let anybody go: each burst would meet a cold start again."""
    run = simulate(lambda now: 100.0 if now % 100 < 5 else 0.0, 1500, 0, replace(SPEC, min_replicas=0))
    assert min(run.replicas[200:]) >= 2
    assert max(run.ages[200:]) <= SPEC.target_seconds
