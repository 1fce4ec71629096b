"""What JSON can carry: checks a job's arguments and says exactly which one cannot go, and what to send.

Called when a job is declared (its defaults) and for every call. Tuples travel as arrays and arrive as lists.
"""

from __future__ import annotations

import json
import math
from typing import Any

from stanchion.errors import InvalidArguments

MAX_DEPTH = 64
"""Nesting inside the arguments. Ruby's parser stops at 100 for the whole payload."""
MAX_BYTES = 1024 * 1024
"""Encoded size of all arguments of one job."""
MAX_INTEGER_BITS = 4096

_ADVICE = {
    "bytes": "decode it, or send base64 text",
    "bytearray": "decode it, or send base64 text",
    "datetime": "send value.isoformat()",
    "date": "send value.isoformat()",
    "timedelta": "send value.total_seconds()",
    "Decimal": "send str(value)",
    "UUID": "send str(value)",
    "set": "send sorted(value)",
    "frozenset": "send sorted(value)",
}
_DEFAULT_ADVICE = "send an id or plain values, and load the object inside the job"


_encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def to_json(args: list[Any]) -> bytes:
    """The arguments as compact JSON. Raises InvalidArguments naming the path (`args[1].rows[3]`) of the
    first value JSON cannot carry, or the limit exceeded: 64 levels deep, 1 MiB encoded.
    """
    _check(args, "args", 0)
    encoded = _encoder.encode(args).encode()
    if len(encoded) > MAX_BYTES:
        raise InvalidArguments(
            f"args: {len(encoded)} bytes of JSON exceed the limit of {MAX_BYTES}; "
            "store the data and send its id"
        )
    return encoded


def _check(value: Any, path: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidArguments(f"{path}: nested deeper than the limit of {MAX_DEPTH} (or within itself)")
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise InvalidArguments(
                f"{path}: an integer of more than {MAX_INTEGER_BITS} bits; send it as text"
            )
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArguments(f"{path}: {value} cannot be carried by JSON; send None or text")
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            _check(item, f"{path}[{position}]", depth + 1)
    elif isinstance(value, dict):
        _check_object(value, path, depth)
    else:
        kind = type(value).__name__
        raise InvalidArguments(
            f"{path}: {kind} cannot be carried by JSON; {_ADVICE.get(kind, _DEFAULT_ADVICE)}"
        )


def _check_text(value: str, path: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArguments(
            f"{path}: text with half a surrogate pair is no Unicode; clean it where it was decoded"
        ) from None


def _check_object(value: dict[Any, Any], path: str, depth: int) -> None:
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidArguments(
                f"{path}: the key {key!r} is no text, and JSON would change it; send str(key)"
            )
        _check_text(key, path)
        _check(item, f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]", depth + 1)
