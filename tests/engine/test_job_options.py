"""What `@job` may say: checked where it is declared, sent along where other workers need it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from stanchion.app import App
from stanchion.errors import InvalidArguments
from stanchion.job_options import JobOptions
from stanchion.outcomes import JobOutcome, Retry, Snooze


async def waits(count: int, error: BaseException) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"retrys": 3}, "unknown option retrys; there are name, queue, retries, retry_for"),
        ({"retries": -1}, "retries must be True, False or 0 to 10000"),
        ({"retry_for": 0}, "retry_for must be seconds, above 0 to 100 years, or a timedelta, not 0"),
        ({"retry_for": "1h"}, "retry_for must be seconds"),
        ({"retry_queue": "a b"}, "queue 'a b'"),
        ({"dead": 1}, "dead must be True or False, not 1"),
        ({"backtrace": 0}, "backtrace must be True, False or 1 to 1000 lines, not 0"),
        ({"backtrace": "all"}, "backtrace must be"),
        ({"backoff": 30}, "backoff must be a plain function"),
        ({"backoff": waits}, "backoff must be a plain function"),
        ({"timeout_seconds": 0}, "timeout_seconds must be seconds, above 0"),
        ({"timeout_seconds": float("inf")}, "timeout_seconds must be seconds"),
        ({"expires_in": timedelta()}, "expires_in must be seconds, above 0"),
    ],
)
def test_an_unfit_option_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        JobOptions.of(**fields)
    assert message in str(caught.value)


def test_what_is_stated_travels_as_sidekiq_names_it() -> None:
    options = JobOptions.of(
        retry_for=timedelta(minutes=1.01), retry_queue="slow", dead=False, backtrace=20, timeout_seconds=5
    )
    assert options.wire_fields == {"retry_for": 61, "retry_queue": "slow", "dead": False, "backtrace": 20}
    assert options.timeout_seconds == 5.0
    assert JobOptions.of() == JobOptions()


def test_a_call_carries_what_its_job_declares_and_its_options_beat_it() -> None:
    app = App("redis://127.0.0.1:1/0")

    @app.job(dead=False, expires_in=60)
    def welcome(user: int) -> None: ...

    assert welcome.call(7).wire_fields == {"dead": False}
    assert welcome.call(7).expires_in_seconds == 60.0
    assert welcome.options(expires_in=5).call(7).expires_in_seconds == 5.0
    assert app.call("welcome", [7]).wire_fields == {"dead": False}


@pytest.mark.parametrize("wait", [-1, float("nan"), "soon", True, 10**12])
@pytest.mark.parametrize("outcome", [Retry, Snooze])
def test_an_outcome_with_an_unfit_time_says_so(outcome: type[JobOutcome], wait: Any) -> None:
    with pytest.raises(InvalidArguments, match="in_seconds must be seconds, 0 to 100 years"):
        outcome(wait)


def test_an_outcome_without_a_reason_still_says_what_it_is() -> None:
    assert str(Retry(5)) == "the job asked to be retried"
    assert (str(Snooze(timedelta(hours=1), "no token")), Snooze(timedelta(hours=1)).in_seconds) == (
        "no token",
        3600.0,
    )
