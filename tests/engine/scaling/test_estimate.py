"""Rates over windows, resets, hints: from counters to the figures of the law."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stanchion.scaling.estimate import DEFAULT_SERVICE_SECONDS, Estimate, estimate, record
from stanchion.scaling.facts import QueueFacts

TICK = 5.0


def look(samples: list[QueueFacts], target_seconds: float = 30) -> Estimate:
    kept: tuple[QueueFacts, ...] = ()
    for sample in samples:
        kept = record(kept, sample, TICK)
    return estimate(kept, target_seconds=target_seconds, lead_seconds=30)


def steady(rate: float, seconds: int, service_ms: int = 100, start: float = 1000) -> list[QueueFacts]:
    return [
        QueueFacts(
            "q",
            start + at,
            eligible=int(rate * at),
            done=int(rate * at),
            busy_ms=int(rate * at) * service_ms,
        )
        for at in range(0, seconds + 1, int(TICK))
    ]


def test_a_steady_flow_is_measured_exactly() -> None:
    seen = look(steady(rate=20, seconds=200, service_ms=250))
    assert seen.arrival_rate == seen.arrival_rate_short == 20
    assert seen.service_seconds == 0.25


def test_one_sample_knows_no_rate_but_the_backlog_and_the_hint() -> None:
    seen = look([QueueFacts("q", 1.0, waiting=9, oldest_age_seconds=4, service_hint_seconds=0.2)])
    assert seen == Estimate(0, 0, 0.2, 9, 4, 0, 0)


def test_before_any_measurement_the_run_time_is_a_documented_guess() -> None:
    assert look([QueueFacts("q", 1.0)]).service_seconds == DEFAULT_SERVICE_SECONDS


def test_right_after_the_start_a_burst_is_spread_over_the_least_span() -> None:
    seen = look([QueueFacts("q", 0.0), QueueFacts("q", 1.0, eligible=1000, waiting=1000)])
    assert seen.arrival_rate == 1000 / 20


def test_the_rate_rises_with_the_short_window_and_falls_with_the_long() -> None:
    quiet, rush = steady(2, 120), steady(50, 25, start=1120)
    busy = [*quiet, *(shifted(sample, quiet[-1]) for sample in rush[1:])]
    assert look(busy).arrival_rate == 50
    calm = [*busy, *(shifted(sample, busy[-1]) for sample in steady(0, 60, start=1145)[1:])]
    seen = look([*calm[:-1], replace(calm[-1], due_soon=1)])
    assert seen.arrival_rate_short == 0
    assert 10 < seen.arrival_rate < 20
    assert look(calm).arrival_rate == 0, "nothing is left to do and nothing comes"


def shifted(sample: QueueFacts, onto: QueueFacts) -> QueueFacts:
    return QueueFacts(
        "q",
        sample.at_seconds,
        eligible=sample.eligible + onto.eligible,
        done=sample.done + onto.done,
        busy_ms=sample.busy_ms + onto.busy_ms,
    )


@pytest.mark.parametrize(
    "after",
    [
        QueueFacts("q", 1210.0, eligible=0, done=4000, busy_ms=400_000),
        QueueFacts("q", 1210.0, eligible=4000, done=0, busy_ms=400_000),
        QueueFacts("q", 1210.0, eligible=4000, done=4000, busy_ms=0),
        QueueFacts("q", 900.0, eligible=4000, done=4000, busy_ms=400_000),
    ],
    ids=["arrivals", "completions", "busy time", "clock"],
)
def test_nothing_is_computed_across_a_reset(after: QueueFacts) -> None:
    seen = look([*steady(20, 200), after])
    assert seen.arrival_rate == 0
    assert seen.service_seconds == DEFAULT_SERVICE_SECONDS


def test_pushes_that_count_nothing_are_seen_in_the_list_and_the_completions() -> None:
    first = QueueFacts("q", 0.0, waiting=10)
    last = QueueFacts("q", 25.0, waiting=40, busy=5, done=65, failed=5)
    assert look([first, last]).arrival_rate == 100 / 25


def test_a_backlog_that_comes_into_sight_with_the_end_of_a_pause_did_not_arrive() -> None:
    first = QueueFacts("q", 0.0, waiting=0, paused=True, due_soon=60)
    assert look([first]).due_rate == 0
    assert look([first, QueueFacts("q", 25.0, waiting=500)]).arrival_rate == 0


def test_failed_attempts_hold_slots_and_count_as_service() -> None:
    seen = look([QueueFacts("q", 0.0), QueueFacts("q", 25.0, done=4, failed=3, busy_ms=4000)])
    assert seen.service_seconds == 1.0


def test_only_jobs_known_to_be_long_hold_slots_apart() -> None:
    running = {"report": 3, "mail": 4, "new": 2}
    facts = QueueFacts("q", 0.0, running=running, runtime_p95_seconds={"report": 60, "mail": 0.1})
    assert look([facts]).long_busy_slots == 3
    assert look([facts], target_seconds=90).long_busy_slots == 0


def test_due_work_is_a_rate_over_the_lead_time() -> None:
    assert look([QueueFacts("q", 0.0, due_soon=60)]).due_rate == 2


def test_samples_beyond_the_long_window_are_dropped() -> None:
    kept: tuple[QueueFacts, ...] = ()
    for sample in steady(20, 1000):
        kept = record(kept, sample, TICK)
    assert kept[-1].at_seconds - kept[0].at_seconds == 125
