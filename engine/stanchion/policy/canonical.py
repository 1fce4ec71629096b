"""One spelling for equal values, so that equal manifests give equal hashes and equal digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def dump(value: Any) -> str:
    """Compact JSON with sorted keys and no escapes beyond what JSON demands; 5.0 is written as 5.

    Raises ValueError for NaN and infinities, which JSON cannot carry.
    """
    return json.dumps(
        _plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(fields: Mapping[str, str]) -> str:
    """32 hex digits of SHA-256 over the canonical JSON of a flat mapping."""
    return hashlib.sha256(dump(fields).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
