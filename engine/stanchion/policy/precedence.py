"""The one order in which settings override each other: the call, the policy, code, the built-in default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CALL = "call"
CODE = "code"
BUILT_IN = "built-in default"


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting's value and where it comes from, e.g. `QueuePolicy shop/imports`."""

    value: Any
    source: str


def effective(
    *, built_in: Any, code: Any = None, policy: Any = None, policy_source: str = "policy", call: Any = None
) -> Effective:
    """The first of call, policy, code, built-in that states a value; None is "not stated"."""
    for value, source in ((call, CALL), (policy, policy_source), (code, CODE)):
        if value is not None:
            return Effective(value, source)
    return Effective(built_in, BUILT_IN)
