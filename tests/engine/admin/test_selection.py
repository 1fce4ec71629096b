"""Which jobs the filters mean."""

from __future__ import annotations

import pytest

from stanchion.admin.selection import Found, Selection, since
from stanchion.job import Job
from stanchion.store import keys
from stanchion.store.entries import Entry

NOW = 1000.0
JOB = Job(
    {
        "class": "Wrapper",
        "wrapped": "Billing::Invoice",
        "jid": "a",
        "queue": "mail",
        "args": [],
        "error_class": "Timeout::Error",
        "error_message": "no reply from Bank",
        "created_at": 100.0,
        "failed_at": 200_000,
        "retried_at": 300.5,
    }
)


@pytest.mark.parametrize(
    ("selection", "is_covered"),
    [
        (Selection(), True),
        (Selection(queue="mail"), True),
        (Selection(queue="mai"), False),
        (Selection(job="Billing::Invoice"), True),
        (Selection(job="Billing*"), True),
        (Selection(job="Wrapper"), False),
        (Selection(error="from bank"), True),
        (Selection(error="timeout::error: no"), True),
        (Selection(error="refused"), False),
        (Selection(older_than_seconds=100), True),
        (Selection(older_than_seconds=101), False),
        (Selection(newer_than_seconds=100), True),
        (Selection(newer_than_seconds=99), False),
        (Selection(queue="mail", error="refused"), False),
    ],
)
def test_all_filters_must_hold(selection: Selection, is_covered: bool) -> None:
    assert selection.covers(JOB, NOW - 100, NOW) is is_covered


def test_what_cannot_be_told_is_not_meant() -> None:
    assert not Selection(older_than_seconds=0).covers(JOB, None, NOW)
    assert not Selection(newer_than_seconds=9e9).covers(JOB, None, NOW)
    assert not Selection(queue="mail").covers(None, 0.0, NOW)
    assert Selection().covers(None, None, NOW)
    assert Selection(older_than_seconds=1).covers(None, 0.0, NOW)


@pytest.mark.parametrize(("set_key", "at"), [(keys.DEAD, 900.0), (keys.RETRY, 300.5), (keys.SCHEDULE, 100.0)])
def test_age_counts_from_what_the_set_is_about(set_key: str, at: float) -> None:
    assert since(set_key, Found(Entry(b"", 900.0), JOB)) == at


def test_a_first_failure_has_no_second() -> None:
    assert since(keys.RETRY, Found(Entry(b"", 0.0), JOB.replace(retried_at=None))) == 200.0


def test_bytes_that_are_no_job_have_a_stand_in_for_an_id() -> None:
    found = Found.read(Entry(b"{", 1.0))
    assert found.job is None
    assert found.id == "sha1:60ba4b2daa4e"
    assert since(keys.RETRY, found) is None
