"""Evaluate the schema's CEL rules (`x-kubernetes-validations`) as the API server would.

Only core CEL is used in our definitions, so that a plain CEL library can answer. Called by `check`, after the
schema itself is satisfied: rules may then trust types and required fields. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from stanchion.errors import CommandError
from stanchion.manifest import problem
from stanchion.manifest.document import Json, child
from stanchion.manifest.lists import entry_key
from stanchion.manifest.problem import NOWHERE, Cause
from stanchion.manifest.prune import field_schema

if TYPE_CHECKING:
    from cel import Program

_OLD = re.compile(r"\boldSelf\b")


def causes(value: Json, schema: Json, old: Json = None, path: str = "") -> Iterator[Cause]:
    """The rules that fail at `path` and below. `old` is the stored value there, or None.

    Raises CommandError if the CEL library is not installed.
    """
    if value is None or schema is None:
        return
    for rule in schema.get("x-kubernetes-validations", ()):
        transition = _OLD.search(rule["rule"]) is not None
        if not (transition and old is None) and not _holds(rule["rule"], value, old):
            yield _cause(rule, value, path)
    if isinstance(value, dict):
        stored = old if isinstance(old, dict) else {}
        declared = schema.get("properties", {})
        for key, item in value.items():
            place = child(path, key) if key in declared else f"{path}[{key}]"
            yield from causes(item, field_schema(schema, key), stored.get(key), place)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from causes(item, schema.get("items"), _counterpart(item, old, schema), f"{path}[{index}]")


def _cause(rule: Json, value: Json, path: str) -> Cause:
    """The message the API server makes: objects and lists are not printed."""
    place = path + rule.get("fieldPath", "") if path else rule.get("fieldPath", "").removeprefix(".")
    reason = rule.get("reason", problem.INVALID)
    message = rule["message"].strip()
    if reason == problem.REQUIRED:
        return Cause(place or NOWHERE, reason, f"Required value: {message}")
    if reason == problem.FORBIDDEN:
        return Cause(place or NOWHERE, reason, f"Forbidden: {message}")
    if isinstance(value, (dict, list)):
        return Cause(place or NOWHERE, reason, f"Invalid value: {message}")
    return problem.invalid(place, message, value)


def _counterpart(item: Json, old: Json, schema: Json) -> Json:
    """The stored entry with the same keys; only lists of type map have one."""
    keys = schema.get("x-kubernetes-list-map-keys")
    if keys is None or not isinstance(old, list):
        return None
    return next((stored for stored in old if entry_key(stored, keys) == entry_key(item, keys)), None)


def _holds(rule: str, value: Json, old: Json) -> bool:
    return bool(program(rule).execute({"self": value, "oldSelf": old}) is True)


@lru_cache(maxsize=256)
def program(rule: str) -> Program:
    """A rule, compiled once. Raises CommandError if the CEL library is not installed."""
    try:
        import cel
    except ImportError as error:
        raise CommandError(
            'checking manifests needs a CEL library: pip install "stanchion[local]"'
        ) from error
    return cel.compile(rule)
