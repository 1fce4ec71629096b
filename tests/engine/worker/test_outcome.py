"""What becomes of a job after an attempt: Sidekiq's formulas and error fields, as tables and properties."""

from __future__ import annotations

import base64
import json
import zlib
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.job import Job
from stanchion.store.trip import Kind
from stanchion.worker.outcome import (
    Failure,
    Outcome,
    after_failure,
    compress,
    delay_seconds,
    effective_retries,
    malformed,
)

NOW = 1_796_064_278.25
BOOM = Failure("RuntimeError", "boom", ("jobs.py:7:in 'boom'", "execute.py:90:in 'call'"))


def job(**fields: Any) -> Job:
    made = Job.create("Boom", [1], queue="mail", jid="a" * 24, retry=True, now=NOW - 60)
    return made.replace(**fields)


def fail(failed: Job, retries: bool | int = True, queue: str = "mail") -> Outcome:
    return after_failure(failed, queue, BOOM, retries=retries, now=NOW, rng=Random(1))


@pytest.mark.parametrize(
    ("retries", "count", "kind"),
    [
        (True, None, Kind.RETRY),
        (True, 23, Kind.RETRY),
        (True, 24, Kind.DEAD),
        (3, None, Kind.RETRY),
        (3, 1, Kind.RETRY),
        (3, 2, Kind.DEAD),
        (0, None, Kind.DEAD),
        (False, None, Kind.DISCARD),
    ],
)
def test_retries_until_the_limit(retries: bool | int, count: int | None, kind: Kind) -> None:
    """`retry: 3` allows three retries: the failure that would be the fourth buries the job."""
    assert fail(job(retry_count=count), retries).kind is kind


def test_first_failure_leaves_sidekiqs_fields() -> None:
    payload = json.loads(fail(job()).payload)
    assert payload["error_class"] == "RuntimeError"
    assert payload["error_message"] == "boom"
    assert payload["failed_at"] == NOW
    assert payload["retry_count"] == 0
    assert "retried_at" not in payload
    assert "error_backtrace" not in payload


def test_later_failures_count_on_and_keep_the_first_time() -> None:
    payload = json.loads(fail(job(retry_count=0, failed_at=NOW - 30)).payload)
    assert (payload["retry_count"], payload["failed_at"], payload["retried_at"]) == (1, NOW - 30, NOW)


@pytest.mark.parametrize(("wanted", "lines"), [(True, 2), (1, 1), (5, 2)])
def test_backtrace_is_deflated_json_in_base64(wanted: bool | int, lines: int) -> None:
    stored = json.loads(fail(job(backtrace=wanted)).payload)["error_backtrace"]
    assert json.loads(zlib.decompress(base64.b64decode(stored))) == list(BOOM.backtrace[:lines])


@pytest.mark.parametrize(
    ("fields", "expected"),
    [({}, "taken-from"), ({"retry_queue": "slow"}, "slow"), ({"retry_queue": 7}, "taken-from")],
)
def test_retries_go_to_retry_queue_or_where_the_job_was_taken(fields: dict[str, Any], expected: str) -> None:
    assert json.loads(fail(job(**fields), queue="taken-from").payload)["queue"] == expected


def test_dead_false_drops_an_exhausted_job() -> None:
    assert fail(job(dead=False), 0).kind is Kind.DISCARD


@pytest.mark.parametrize(("failed_at", "kind"), [(NOW - 10, Kind.RETRY), (NOW - 61, Kind.DEAD)])
def test_retry_for_ends_retries_by_time(failed_at: float, kind: Kind) -> None:
    assert fail(job(retry_for=60, failed_at=failed_at, retry_count=0)).kind is kind


def test_retry_for_reads_sidekiq_8_milliseconds() -> None:
    assert fail(job(retry_for=60, failed_at=int((NOW - 61) * 1000), retry_count=0)).kind is Kind.DEAD


def test_malformed_bytes_are_buried_as_they_are() -> None:
    assert malformed(b"{not json", NOW) == Outcome(Kind.DEAD, b"{not json", NOW, failed=True)


@given(count=st.integers(0, 40), seed=st.integers())
def test_delay_lies_in_sidekiqs_range(count: int, seed: int) -> None:
    least = count**4 + 15
    assert least <= delay_seconds(count, Random(seed)) < least + 10 * (count + 1)


@given(
    extra=st.dictionaries(
        st.text(min_size=1).filter(lambda key: key.startswith("x")),
        st.integers() | st.text() | st.lists(st.integers()) | st.none(),
    )
)
def test_unknown_fields_survive_a_retry(extra: dict[str, Any]) -> None:
    raw = json.dumps({**json.loads(job().dump()), **extra}).encode()
    kept = json.loads(fail(Job.parse(raw)).payload)
    assert {key: kept[key] for key in extra} == extra


@pytest.mark.parametrize(
    ("stated", "code", "policy", "expected"),
    [
        (True, None, None, True),
        (True, None, 4, 4),
        (5, 5, 4, 4),
        (7, 5, 4, 7),
        (False, None, 4, False),
        (5, None, 4, 5),
        (5, 5, None, 5),
    ],
)
def test_the_call_beats_the_policy_beats_code(
    stated: bool | int, code: int | None, policy: int | None, expected: bool | int
) -> None:
    assert effective_retries(stated, code, policy) == expected


def test_failure_names_the_innermost_frame_first() -> None:
    try:
        json.loads("{")
    except ValueError as error:
        failure = Failure.of(error)
    assert failure.error_class == "json.decoder.JSONDecodeError"
    assert "raw_decode" in failure.backtrace[0]
    assert "test_failure_names" in failure.backtrace[-1]


def test_failure_bounds_the_message() -> None:
    assert len(Failure.of(ValueError("x" * 50_000)).message) == 10_000


def test_compress_reads_back() -> None:
    assert json.loads(zlib.decompress(base64.b64decode(compress(("a", "é"))))) == ["a", "é"]
