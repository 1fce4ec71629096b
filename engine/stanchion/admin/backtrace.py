"""Reads the backtrace that a failed job carries, in every form Sidekiq wrote. Called by `show`. Pure."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

MAX_BYTES = 1_000_000
"""A few bytes can unpack to gigabytes; nobody reads more than this."""


def lines(value: Any) -> tuple[str, ...]:
    """The frames, innermost first: from an array (early 6.0), else base64 of deflated JSON, wrapped in lines
    (6.x) or not (7 and later). Empty for anything else.
    """
    if isinstance(value, list):
        return tuple(map(str, value))
    if not isinstance(value, str):
        return ()
    try:
        unpacked = zlib.decompressobj().decompress(base64.b64decode(value), MAX_BYTES)
        frames = json.loads(unpacked)
    except (ValueError, zlib.error):
        return ()
    return tuple(map(str, frames)) if isinstance(frames, list) else ()
