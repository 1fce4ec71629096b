"""What an exception leaves in a payload: Sidekiq's error fields."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest

from stanchion.job import Job
from stanchion.outcomes import Kill
from stanchion.worker.failure import Failure, compress

NOW = 1_796_064_278.25
BOOM = Failure("RuntimeError", "boom", ("jobs.py:7:in 'boom'", "execute.py:90:in 'call'"))


def job(**fields: Any) -> Job:
    return Job({"class": "Boom", "jid": "a1", "queue": "mail", "args": [], **fields})


@pytest.mark.parametrize(("wanted", "lines"), [(True, 2), (1, 1), (5, 2)])
def test_backtrace_is_deflated_json_in_base64(wanted: bool | int, lines: int) -> None:
    stored = BOOM.fields(job(backtrace=wanted), NOW)["error_backtrace"]
    assert json.loads(zlib.decompress(base64.b64decode(stored))) == list(BOOM.backtrace[:lines])


@pytest.mark.parametrize("wanted", [None, False, 0, "all"])
def test_no_backtrace_is_stored_unless_it_is_wanted(wanted: Any) -> None:
    fields = BOOM.fields(job(backtrace=wanted), NOW)
    assert json.loads(zlib.decompress(base64.b64decode(fields.get("error_backtrace", compress(()))))) == []


def test_the_first_failure_and_the_later_ones_have_times_of_their_own() -> None:
    words = {"error_class": "RuntimeError", "error_message": "boom"}
    assert BOOM.fields(job(), NOW) == {**words, "failed_at": NOW, "retry_count": 0}
    assert BOOM.fields(job(retry_count=3), NOW) == {**words, "retried_at": NOW, "retry_count": 4}


def test_names_the_innermost_frame_first() -> None:
    try:
        json.loads("{")
    except ValueError as error:
        failure = Failure.of(error)
    assert failure.error_class == "json.decoder.JSONDecodeError"
    assert "raw_decode" in failure.backtrace[0]
    assert "test_names_the_innermost" in failure.backtrace[-1]


@pytest.mark.parametrize(("reason", "message"), [("no such account", "no such account"), ("", "'acme'")])
def test_an_outcome_raised_from_an_error_shows_the_error(reason: str, message: str) -> None:
    try:
        try:
            raise KeyError("acme")
        except KeyError as error:
            raise Kill(reason) from error
    except Kill as outcome:
        failure = Failure.of(outcome)
    assert (failure.error_class, failure.message) == ("KeyError", message)


def test_bounds_the_message() -> None:
    assert len(Failure.of(ValueError("x" * 50_000)).message) == 10_000


def test_compress_reads_back() -> None:
    assert json.loads(zlib.decompress(base64.b64decode(compress(("a", "é"))))) == ["a", "é"]
