"""Options of a call: checked where they are given, with a message that names them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from stanchion.call import Call, Options
from stanchion.errors import InvalidArguments
from stanchion.tracing import traceparent

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"delai": 3}, "unknown option delai; there are queue, delay, at"),
        ({"delay": 3, "at": 4}, "delay and at exclude each other"),
        ({"delay": -1}, "delay must be seconds"),
        ({"delay": float("nan")}, "delay must be seconds"),
        ({"delay": 1e300}, "0 to 100 years"),
        ({"delay": 10**400}, "0 to 100 years"),
        ({"delay": True}, "delay must be seconds"),
        ({"delay": "30"}, "delay must be seconds"),
        ({"delay": timedelta(seconds=-1)}, "delay must be seconds"),
        ({"at": datetime(2026, 1, 1)}, "has no time zone"),
        ({"at": "tomorrow"}, "at must be epoch seconds"),
        ({"at": float("inf")}, "at must be epoch seconds"),
        ({"at": NOW * 1_000_000}, "before the year 10000"),
        ({"queue": "a b"}, "queue 'a b'"),
        ({"queue": ""}, "queue ''"),
        ({"tenant": ""}, "tenant must be printable text"),
        ({"tenant": 7}, "tenant must be printable text, not 7; send str(value)"),
        ({"tenant": "a\nb"}, "tenant must be printable text"),
        ({"tenant": "é" * 200}, "longer than 256 bytes"),
        ({"jid": "a|b"}, "jid 'a|b'"),
        ({"jid": ""}, "jid ''"),
        ({"retries": -1}, "retries must be True, False or 0 to 10000"),
        ({"retries": 1.5}, "retries must be"),
        ({"on_refused": "ignore"}, "on_refused must be"),
        ({"expires_in": 0}, "expires_in must be seconds, above 0"),
        ({"traceparent": ""}, "traceparent must be printable ASCII text of at most 512 characters"),
        ({"traceparent": "two\nlines"}, "traceparent must be"),
        ({"traceparent": "x" * 513}, "traceparent must be"),
    ],
)
def test_an_unfit_option_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        Options.of(**fields)
    assert message in str(caught.value)


def test_none_means_not_stated() -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ("queue", "delay", "at", "tenant", "jid", "retries", "on_refused")
    )
    assert Options.of(**nothing) == Options()


@pytest.mark.parametrize(
    ("fields", "due_at"),
    [
        ({}, None),
        ({"delay": 0}, None),
        ({"delay": 30}, NOW + 30),
        ({"delay": timedelta(minutes=1)}, NOW + 60),
        ({"at": NOW}, None),
        ({"at": NOW - 1}, None),
        ({"at": NOW + 5}, NOW + 5),
        ({"at": datetime.fromtimestamp(NOW + 5, UTC)}, NOW + 5),
    ],
)
def test_a_time_that_is_not_ahead_means_now(fields: dict[str, Any], due_at: float | None) -> None:
    assert Options.of(**fields).due_at(NOW) == due_at


def test_a_call_keeps_the_arguments_as_they_were() -> None:
    rows = [1]
    call = Call.of("a", [rows, (2,)])
    rows.append(3)
    assert call.args == [[1], [2]]
    assert call.size_bytes == len(b"[[1],[2]]")


def test_the_callers_queue_beats_the_declared_one() -> None:
    assert Call.of("a", [], queue="declared").queue == "declared"
    assert Call.of("a", [], queue="declared", options=Options.of(queue="asked")).queue == "asked"


def test_the_message_of_a_bad_argument_names_the_job() -> None:
    with pytest.raises(InvalidArguments, match=r"job mail\.welcome: args\[0\]: bytes cannot"):
        Call.of("mail.welcome", [b""])


def test_a_call_belongs_to_the_trace_it_names_else_to_that_of_its_context() -> None:
    token = traceparent.set("00-outer")
    try:
        assert Call.of("a", []).traceparent == "00-outer"
        assert Call.of("a", [], options=Options.of(traceparent="00-own")).traceparent == "00-own"
    finally:
        traceparent.reset(token)
    assert Call.of("a", []).traceparent is None
