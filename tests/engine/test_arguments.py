"""What JSON can carry: the path of the culprit, and what to send instead."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest

from stanchion.arguments import MAX_BYTES, MAX_DEPTH, to_json
from stanchion.errors import InvalidArguments


class Color(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 2


@pytest.mark.parametrize(
    ("value", "carried"),
    [
        (None, None),
        (True, True),
        (2**70, 2**70),
        (1.5, 1.5),
        ("é\u0000", "é\u0000"),
        ((1, (2,)), [1, [2]]),
        ({"a": [{}]}, {"a": [{}]}),
        (Color.RED, "red"),
        (Level.HIGH, 2),
    ],
)
def test_plain_values_are_carried(value: Any, carried: Any) -> None:
    assert json.loads(to_json([value])) == [carried]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([b"x"], "args[0]: bytes cannot be carried by JSON; decode it, or send base64 text"),
        ([1, {"rows": [0, 1, 2, b"x"]}], "args[1].rows[3]: bytes cannot be carried"),
        ([{"a b": object()}], "args[0]['a b']: object cannot be carried by JSON; send an id"),
        ([datetime(2026, 1, 1, tzinfo=UTC)], "args[0]: datetime cannot be carried by JSON; send value.iso"),
        ([timedelta(1)], "args[0]: timedelta cannot be carried by JSON; send value.total_seconds()"),
        ([Decimal("1.5")], "args[0]: Decimal cannot be carried by JSON; send str(value)"),
        ([uuid.UUID(int=1)], "args[0]: UUID cannot be carried by JSON; send str(value)"),
        ([{1, 2}], "args[0]: set cannot be carried by JSON; send sorted(value)"),
        ([float("nan")], "args[0]: nan cannot be carried by JSON"),
        ([[float("-inf")]], "args[0][0]: -inf cannot be carried by JSON"),
        ([{1: "x"}], "args[0]: the key 1 is no text"),
        ([{None: "x"}], "args[0]: the key None is no text"),
        (["\ud83d"], "args[0]: text with half a surrogate pair"),
        ([{"\ud83d": 1}], "args[0]: text with half a surrogate pair"),
        ([2**5000], "args[0]: an integer of more than 4096 bits"),
        (["x" * MAX_BYTES], f"exceed the limit of {MAX_BYTES}; store the data and send its id"),
    ],
)
def test_the_message_names_the_place_and_the_way_out(args: list[Any], message: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        to_json(args)
    assert message in str(caught.value)


def test_nesting_is_bounded_and_a_circle_is_found() -> None:
    nested: list[Any] = []
    for _ in range(MAX_DEPTH - 1):
        nested = [nested]
    assert to_json([nested])
    with pytest.raises(InvalidArguments, match=f"deeper than the limit of {MAX_DEPTH}"):
        to_json([[nested]])
    circle: dict[str, Any] = {}
    circle["self"] = circle
    with pytest.raises(InvalidArguments, match="within itself"):
        to_json([circle])
