"""What a worker may be asked for, and how it answers what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.errors import InvalidSettings
from stanchion.worker.options import QueueWeight, WorkerOptions, parse_address

QUEUES = (QueueWeight("mail"), QueueWeight("imports", 5))


def test_survives_the_way_to_a_child() -> None:
    options = WorkerOptions("shop:app", QUEUES, concurrency=3, queue_order="weighted", http=":9394")
    assert WorkerOptions.load(options.dump()) == options


@pytest.mark.parametrize(("text", "weight"), [("mail", 1), ("mail,5", 5), ("a:b.c-d_E9,1000", 1000)])
def test_reads_queues(text: str, weight: int) -> None:
    assert QueueWeight.parse(text) == QueueWeight(text.partition(",")[0], weight)


@pytest.mark.parametrize("text", ["", "a b", "a|b", "é", ",5", "mail,", "mail,0", "mail,x", "mail,1001"])
def test_refuses_queues(text: str) -> None:
    with pytest.raises(InvalidSettings, match="queue"):
        QueueWeight.parse(text)


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"queues": ()}, "at least one queue"),
        ({"queues": (QueueWeight("a"), QueueWeight("a"))}, "twice"),
        ({"queues": tuple(QueueWeight(f"q{n}") for n in range(17))}, "at most 16"),
        ({"concurrency": 0}, "concurrency must be from 1 to 1000, not 0"),
        ({"concurrency": 1001}, "concurrency"),
        ({"processes": 0}, "processes"),
        ({"drain_timeout_seconds": -1}, "drain-timeout-seconds"),
        ({"queue_order": "fair"}, "strict, weighted, random"),
        ({"http": "9394"}, "HOST:PORT"),
        ({"wire": "9"}, "auto, 6, 7, 8, not '9'"),
        ({"beat_seconds": 6.0}, "at least twice"),
    ],
)
def test_refuses_what_it_cannot_be(fields: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidSettings, match=match):
        WorkerOptions(**{"app": "shop:app", "queues": QUEUES, **fields})


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.0.0.1:80", ("127.0.0.1", 80)), (":9394", ("0.0.0.0", 9394)), ("[::1]:1", ("::1", 1))],
)
def test_reads_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "host", "host:", "host:x", "host:65536"])
def test_refuses_addresses(text: str) -> None:
    with pytest.raises(InvalidSettings, match="HOST:PORT"):
        parse_address(text)
