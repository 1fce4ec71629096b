"""How long until the next attempt: the formula's range, and back-off functions good and bad."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.outcomes import Discard, Interrupted, JobOutcome, Retry
from stanchion.worker import retry_delay

BOOM = ValueError("boom")


def ask(backoff: Callable[[int, BaseException], Any] | None, error: BaseException = BOOM) -> Any:
    return retry_delay.of(error, backoff, Random(1), 2)


def raising(error: BaseException) -> Callable[[int, BaseException], float]:
    def backoff(count: int, error_of_job: BaseException) -> float:
        raise error

    return backoff


@given(count=st.integers(0, 40), seed=st.integers())
def test_the_formula_lies_in_sidekiqs_range(count: int, seed: int) -> None:
    least = count**4 + 15
    assert least <= retry_delay.sidekiqs(count, Random(seed)) < least + 10 * (count + 1)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (30, 30.0),
        (0, 0.0),
        (timedelta(minutes=1), 60.0),
        (Retry(5), 5.0),
        (None, retry_delay.sidekiqs(2, Random(1))),
        (Retry(), retry_delay.sidekiqs(2, Random(1))),
    ],
)
def test_a_function_says_how_long(answer: Any, expected: float) -> None:
    assert ask(lambda count, error: answer) == expected


def test_a_function_is_told_the_failures_before_and_the_error() -> None:
    assert ask(lambda count, error: count + len(str(error))) == 6


def test_an_outcome_is_passed_on_with_the_error_as_its_cause() -> None:
    outcome: JobOutcome = ask(lambda count, error: Discard("gone"))
    assert isinstance(outcome, Discard)
    assert outcome.__cause__ is BOOM


def test_a_job_that_names_its_time_is_obeyed_first() -> None:
    assert ask(lambda count, error: 30, Retry(7)) == 7.0
    assert ask(lambda count, error: 30, Retry()) == 30.0


@pytest.mark.parametrize(
    ("backoff", "words"),
    [
        (raising(KeyError("x")), "the back-off function failed"),
        (raising(SystemExit()), "the back-off function failed"),
        (lambda count, error: -1, "a delay must be seconds"),
        (lambda count, error: float("nan"), "a delay must be seconds"),
        (lambda count, error: 10.0**12, "a delay must be seconds"),
        (lambda count, error: "soon", "not 'soon'"),
        (lambda count, error: True, "not True"),
        (lambda count, error: Discard, "a delay must be seconds"),
        (lambda count, error: JobOutcome("hm"), "a delay must be seconds"),
        (lambda count, error: Interrupted(), "a delay must be seconds"),
    ],
)
def test_a_bad_function_is_logged_and_the_formula_holds(
    backoff: Callable[[int, BaseException], Any], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "stanchion.worker"):
        assert ask(backoff) == retry_delay.sidekiqs(2, Random(1))
    assert words in caplog.text
