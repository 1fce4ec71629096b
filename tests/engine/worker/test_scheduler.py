"""What a due member becomes, and how long the scheduler sleeps."""

from __future__ import annotations

import json

import pytest

from stanchion.store.schedule import Promotion
from stanchion.worker.scheduler import promotion, sleep_seconds

NOW = 1796072997.5


def test_only_enqueued_at_changes() -> None:
    args = b"[12345678901234567890,[],1.0]"
    member = b'{"retry":3,"queue":"mail","class":"E","args":' + args + b',"jid":"ab","x":"\xc3\xa9"}'
    promoted = promotion(member, NOW)
    assert promoted.queue == "mail"
    assert promoted.payload == member[:-1] + b',"enqueued_at":1796072997.5}'


def test_a_retry_gets_a_fresh_stamp() -> None:
    member = b'{"class":"A","jid":"ab","queue":"mail","enqueued_at":1.5,"retry_count":0}'
    assert json.loads(promotion(member, NOW).payload)["enqueued_at"] == NOW


def test_what_is_no_job_is_buried() -> None:
    assert promotion(b"\xff", NOW) == Promotion(b"\xff")


@pytest.mark.parametrize(
    ("due", "pause"), [(None, 0.5), (NOW + 60, 0.5), (NOW + 0.125, 0.125), (NOW - 1, 0.0)]
)
def test_sleeps_until_due_and_at_most_half_a_second(due: float | None, pause: float) -> None:
    assert sleep_seconds(due, NOW) == pause
