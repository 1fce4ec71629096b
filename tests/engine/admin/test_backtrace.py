"""Backtraces in every form Sidekiq has written."""

from __future__ import annotations

import base64
import json
import zlib

import pytest

from stanchion.admin import backtrace

FRAMES = ("a.rb:1:in 'x'", "b.rb:2")
PACKED = zlib.compress(json.dumps(FRAMES).encode())


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (list(FRAMES), FRAMES),
        (base64.b64encode(PACKED).decode(), FRAMES),
        (base64.encodebytes(PACKED).decode(), FRAMES),
        (None, ()),
        ("no base64", ()),
        (base64.b64encode(b"not packed").decode(), ()),
        (base64.b64encode(zlib.compress(b"{}")).decode(), ()),
    ],
)
def test_every_form_is_read(value: object, lines: tuple[str, ...]) -> None:
    assert backtrace.lines(value) == lines


def test_a_bomb_is_not_unpacked() -> None:
    assert backtrace.lines(base64.b64encode(zlib.compress(b'["' + b"x" * 5_000_000 + b'"]')).decode()) == ()
