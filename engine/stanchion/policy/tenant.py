"""Which tenant a job belongs to: the first source whose jobs match and whose path yields a scalar."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any

from stanchion.policy import canonical, paths
from stanchion.policy.match import matches_any
from stanchion.policy.queue_policy import TenantSource

NO_TENANT = "-"
MAX_CHARACTERS = 128
"""A longer value is no tenant: names go into Redis keys."""


def tenant_of(sources: Iterable[TenantSource], job: str, payload: Mapping[str, Any]) -> str:
    """The tenant as text, NO_TENANT if no source yields one. `payload` is the whole job record."""
    for source in sources:
        if source.jobs is None or matches_any(source.jobs, job):
            for value in paths.select(_parsed(source.path), payload):
                if (text := _scalar(value)) is not None:
                    return text
    return NO_TENANT


def _scalar(value: Any) -> str | None:
    if isinstance(value, str):
        text = value
    elif isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        text = canonical.dump(value)
    else:
        return None
    return text if 0 < len(text) <= MAX_CHARACTERS else None


# A queue has at most 16 sources and each is parsed once; the bound only guards a long-lived process.
_parsed = functools.lru_cache(maxsize=1024)(paths.parse)
