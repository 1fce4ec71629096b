"""What becomes of a job after an attempt: Sidekiq's rules and what a job may raise, as tables."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.dialect import Dialect
from stanchion.errors import StanchionError, UnfitPayload, UnknownJob
from stanchion.job import Job
from stanchion.job_options import JobOptions
from stanchion.outcomes import Discard, Interrupted, JobOutcome, Kill, Retry, Snooze
from stanchion.store.trip import Kind
from stanchion.worker.outcome import (
    DONE,
    Attempt,
    Outcome,
    effective_retries,
    is_expired,
    malformed,
    outcome_of,
    with_declared,
)

NOW = 1_796_064_278.25
BOOM = RuntimeError("boom")
DELAY = 17.5


def job(**fields: Any) -> Job:
    made = Job.create("Boom", [1], queue="mail", jid="a" * 24, retry=True, now=NOW - 60)
    return made.replace(**{"enqueued_at": NOW - 60, **fields})


def end(
    ended: Job,
    error: BaseException | None = BOOM,
    retries: bool | int = True,
    *,
    queue: str = "mail",
    delay: float | JobOutcome = DELAY,
) -> Outcome:
    return outcome_of(Attempt(ended, queue, retries, lambda count: delay, NOW), error)


def payload_of(outcome: Outcome) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(outcome.payload)
    return payload


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
    assert end(job(retry_count=count), retries=retries).kind is kind


def test_first_failure_leaves_sidekiqs_fields() -> None:
    payload = payload_of(end(job()))
    assert payload["error_class"] == "RuntimeError"
    assert payload["error_message"] == "boom"
    assert payload["failed_at"] == NOW
    assert payload["retry_count"] == 0
    assert "retried_at" not in payload
    assert "error_backtrace" not in payload


def test_later_failures_count_on_and_keep_the_first_time() -> None:
    payload = payload_of(end(job(retry_count=0, failed_at=NOW - 30)))
    assert (payload["retry_count"], payload["failed_at"], payload["retried_at"]) == (1, NOW - 30, NOW)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [({}, "taken-from"), ({"retry_queue": "slow"}, "slow"), ({"retry_queue": 7}, "taken-from")],
)
def test_retries_go_to_retry_queue_or_where_the_job_was_taken(fields: dict[str, Any], expected: str) -> None:
    assert payload_of(end(job(**fields), queue="taken-from"))["queue"] == expected


def test_dead_false_drops_an_exhausted_job() -> None:
    assert end(job(dead=False), retries=0) == Outcome(Kind.DISCARD, failed=True)


@pytest.mark.parametrize(("fields", "retries"), [({}, False), ({"dead": False}, 0), ({}, 0)])
@pytest.mark.parametrize("error", [UnknownJob("no job 'Boom'"), UnfitPayload("1 argument(s) do not fit")])
def test_a_job_that_this_code_could_not_run_is_never_dropped(
    fields: dict[str, Any], retries: bool | int, error: StanchionError
) -> None:
    ended = end(job(**fields), error, retries)
    assert ended.kind is Kind.DEAD
    assert payload_of(ended)["error_message"] == str(error)


@pytest.mark.parametrize(("failed_at", "kind"), [(NOW - 10, Kind.RETRY), (NOW - 61, Kind.DEAD)])
def test_retry_for_ends_retries_by_time(failed_at: float, kind: Kind) -> None:
    assert end(job(retry_for=60, failed_at=failed_at, retry_count=0)).kind is kind


def test_retry_for_reads_sidekiq_8_milliseconds() -> None:
    assert end(job(retry_for=60, failed_at=int((NOW - 61) * 1000), retry_count=0)).kind is Kind.DEAD


@pytest.mark.parametrize(
    ("retries", "count", "kind"),
    [(True, 24, Kind.RETRY), (True, 500, Kind.RETRY), (3, 1, Kind.RETRY), (3, 2, Kind.DEAD)],
)
def test_retry_for_takes_the_place_of_the_default_count_only(
    retries: bool | int, count: int, kind: Kind
) -> None:
    """Sidekiq 8.1 drops any count beside `retry_for`, 7 keeps any: a stated one holds, 25 was not stated."""
    assert end(job(retry_for=86_400, failed_at=NOW - 10, retry_count=count), retries=retries).kind is kind


def test_an_attempt_without_an_error_is_done() -> None:
    assert end(job(), None) == DONE


def test_a_retry_waits_as_long_as_told() -> None:
    outcome = end(job())
    assert (outcome.kind, outcome.at_seconds, outcome.failed) == (Kind.RETRY, NOW + DELAY, True)


@pytest.mark.parametrize(("retries", "kind"), [(1, Kind.RETRY), (0, Kind.DEAD), (False, Kind.DISCARD)])
def test_a_retry_that_was_asked_for_counts_like_any_failure(retries: bool | int, kind: Kind) -> None:
    outcome = end(job(), Retry(60), retries)
    assert (outcome.kind, outcome.failed) == (kind, True)


@pytest.mark.parametrize("retries", [True, 0, False])
def test_a_snooze_comes_back_through_the_schedule_uncounted(retries: bool | int) -> None:
    outcome = end(job(retry_count=2, x=1), Snooze(90), retries, queue="taken-from")
    assert (outcome.kind, outcome.at_seconds, outcome.failed) == (Kind.SNOOZE, NOW + 90, False)
    expected = {**job(retry_count=2, x=1, queue="taken-from", snooze_count=1).fields}
    del expected["enqueued_at"]
    assert payload_of(outcome) == expected
    assert payload_of(end(Job.parse(outcome.payload), Snooze(1)))["snooze_count"] == 2


def test_an_interruption_while_nothing_stops_is_a_failure() -> None:
    """Put off without being counted, the job would come back for ever."""
    outcome = end(job(), Interrupted())
    assert (outcome.kind, outcome.at_seconds, outcome.failed) == (Kind.RETRY, NOW + DELAY, True)
    assert payload_of(outcome)["retry_count"] == 0
    assert end(job(), Interrupted(), 0).kind is Kind.DEAD


@pytest.mark.parametrize("dead", [None, False, True])
def test_a_discard_is_gone_and_no_failure(dead: bool | None) -> None:
    assert end(job(dead=dead), Discard("nothing to do")) == Outcome(Kind.DISCARD)


@pytest.mark.parametrize("retries", [True, 25, False])
def test_a_kill_goes_to_the_dead_set_with_its_reason(retries: bool | int) -> None:
    outcome = end(job(), Kill("the account is closed"), retries)
    assert (outcome.kind, outcome.at_seconds, outcome.failed) == (Kind.DEAD, NOW, True)
    payload = payload_of(outcome)
    assert payload["error_class"] == "stanchion.outcomes.Kill"
    assert payload["error_message"] == "the account is closed"


@pytest.mark.parametrize(
    ("delay", "kind"), [(Snooze(5), Kind.SNOOZE), (Discard(), Kind.DISCARD), (Kill("no"), Kind.DEAD)]
)
def test_a_back_off_may_say_what_to_do_instead(delay: JobOutcome, kind: Kind) -> None:
    assert end(job(), delay=delay).kind is kind


def test_an_exhausted_job_is_buried_whatever_its_back_off_says() -> None:
    assert end(job(), retries=0, delay=Snooze(5)).kind is Kind.DEAD


def test_times_are_written_in_the_wires_dialect() -> None:
    attempt = Attempt(job(), "mail", True, lambda count: DELAY, NOW, Dialect(frozenset({8})))
    outcome = outcome_of(attempt, BOOM)
    assert payload_of(outcome)["failed_at"] == round(NOW * 1000)
    assert outcome.at_seconds == NOW + DELAY


@pytest.mark.parametrize(
    ("expires_at", "expected"),
    [(None, False), (NOW, True), (NOW - 0.1, True), (NOW + 0.1, False), ("soon", False)],
)
def test_a_job_is_expired_from_its_time_on(expires_at: Any, expected: bool) -> None:
    assert is_expired(job(expires_at=expires_at), NOW) is expected


def test_the_payload_beats_what_code_declares() -> None:
    """A producer may lack the code, or have an older one."""
    declared = JobOptions.of(dead=False, retry_for=60, retries=5)
    merged = with_declared(job(dead=True), declared)
    assert (merged.fields["dead"], merged.fields["retry_for"], merged.retry) == (True, 60, True)
    assert with_declared(Job({"class": "a", "jid": "b", "args": []}), declared).retry == 5


def test_malformed_bytes_are_buried_as_they_are() -> None:
    assert malformed(b"{not json", NOW) == Outcome(Kind.DEAD, b"{not json", NOW, failed=True)


@given(
    extra=st.dictionaries(
        st.text(min_size=1).filter(lambda key: key.startswith("x")),
        st.integers() | st.text() | st.lists(st.integers()) | st.none(),
    )
)
def test_unknown_fields_survive_a_retry(extra: dict[str, Any]) -> None:
    raw = json.dumps({**json.loads(job().dump()), **extra}).encode()
    kept = payload_of(end(Job.parse(raw)))
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
