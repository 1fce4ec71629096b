"""Lists that are sets or maps hold no entry twice. Pure; called by `check`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from stanchion.manifest import problem
from stanchion.manifest.document import Json, child
from stanchion.manifest.problem import Cause
from stanchion.manifest.prune import field_schema


def causes(value: Json, schema: Json, path: str = "") -> Iterator[Cause]:
    """A duplicate is reported once, at its second place, as the API server does."""
    if schema is None:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from causes(item, field_schema(schema, key), child(path, key))
    elif isinstance(value, list):
        if schema.get("x-kubernetes-list-type") in ("set", "map"):
            yield from _duplicates(value, schema.get("x-kubernetes-list-map-keys"), path)
        for index, item in enumerate(value):
            yield from causes(item, schema.get("items"), f"{path}[{index}]")


def entry_key(item: Json, keys: list[str] | None) -> Json:
    """What identifies an entry: the entry itself in a set, its key fields in a map."""
    if keys is None:
        return item
    return {key: item[key] for key in keys if key in item} if isinstance(item, dict) else {}


def _duplicates(value: list[Json], keys: list[str] | None, path: str) -> Iterator[Cause]:
    for index, item in enumerate(value):
        if keys is not None and not isinstance(item, dict) and item is not None:
            yield problem.invalid(f"{path}[{index}]", "must be an object for an array of list-type map", item)
            return
    seen: Counter[str] = Counter()
    for index, item in enumerate(value):
        key = entry_key(item, keys)
        identity = json.dumps(key, sort_keys=True)
        seen[identity] += 1
        if seen[identity] == 2:
            yield problem.duplicate(f"{path}[{index}]", key)
