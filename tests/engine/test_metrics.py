"""Tallies cross from child to supervisor without loss, and are served as Prometheus reads them."""

from __future__ import annotations

import json

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from stanchion import metrics
from stanchion.metrics import RUNTIME_LIMITS_MS, Tally, TallyCollector, runtime_bucket


@pytest.mark.parametrize(
    ("ms", "bucket"), [(0, 0), (19, 0), (20, 1), (334_999, 24), (335_000, 25), (10**9, 25)]
)
def test_buckets_are_sidekiqs(ms: int, bucket: int) -> None:
    assert runtime_bucket(ms) == bucket
    assert len(RUNTIME_LIMITS_MS) == 25


def served(tally: Tally) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    registry = CollectorRegistry()
    registry.register(TallyCollector(tally))
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_childs_numbers_reach_the_scrape() -> None:
    child, supervisor = Tally(), Tally()
    for _ in range(2):
        child.add(metrics.JOBS, "mail", "welcome", "done")
        child.observe_runtime("mail", "welcome", 40, failed=False)
        supervisor.merge(json.loads(json.dumps(child.take())))
    assert child.take() == []
    numbers = served(supervisor)
    of_job = {("queue", "mail"), ("job", "welcome")}
    assert numbers["stanchion_jobs_total", frozenset({*of_job, ("outcome", "done")})] == 2
    assert numbers["stanchion_job_runtime_seconds_bucket", frozenset({*of_job, ("le", "0.03")})] == 0
    assert numbers["stanchion_job_runtime_seconds_bucket", frozenset({*of_job, ("le", "0.045")})] == 2
    assert numbers["stanchion_job_runtime_seconds_bucket", frozenset({*of_job, ("le", "+Inf")})] == 2
    assert numbers["stanchion_job_runtime_seconds_sum", frozenset(of_job)] == pytest.approx(0.08)


def test_every_series_without_labels_is_there_from_the_start() -> None:
    numbers = served(Tally())
    for series in metrics.ALL:
        suffix = "_total" if series.kind is metrics.Kind.COUNTER else ""
        assert series.labels or numbers[series.name + suffix, frozenset()] == 0
