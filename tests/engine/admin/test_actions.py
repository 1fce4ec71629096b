"""What a job becomes when a person makes it ready."""

from __future__ import annotations

import pytest

from stanchion.admin.actions import MakeReady
from stanchion.dialect import SIDEKIQ_7, Dialect
from stanchion.job import Job

FIELDS = {"class": "A", "jid": "a", "args": [], "cattr": {"x": []}}


@pytest.mark.parametrize(
    ("retry_count", "lowers", "becomes"),
    [(None, True, None), (0, True, -1), (2, True, 1), (2, False, 2), (True, True, True)],
)
def test_one_failure_is_forgiven(retry_count: object, lowers: bool, becomes: object) -> None:
    fields = FIELDS if retry_count is None else {**FIELDS, "retry_count": retry_count}
    ready = MakeReady(SIDEKIQ_7, lowers).becomes(Job(fields), 7.5)
    assert ready.fields.get("retry_count") == becomes
    assert ready.enqueued_at_seconds == 7.5
    assert ready.fields["cattr"] == {"x": []}


def test_sidekiq_8_alone_reads_milliseconds() -> None:
    ready = MakeReady(Dialect(frozenset({8})), True).becomes(Job(FIELDS), 7.5)
    assert ready.fields["enqueued_at"] == 7500
