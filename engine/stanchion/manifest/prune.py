"""What decoding does to an object before anyone validates it: unknown fields, nulls and defaults.

The API server's order, which matters: strict decoding refuses unknown fields, nulls are dropped, then
defaults fill what is absent. Pure; called by `check`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

from stanchion.manifest.document import Json, child

_META_FIELDS = frozenset({"apiVersion", "kind", "metadata"})


def unknown_fields(value: Json, schema: Json, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """The path of each field that the schema does not have, with the names it has there instead.

    Below preserve-unknown-fields anything goes that is not declared.
    """
    known = schema or {}
    anything = known.get("x-kubernetes-preserve-unknown-fields", False)
    if isinstance(value, list) and ("items" in known or not anything):
        for index, item in enumerate(value):
            yield from unknown_fields(item, known.get("items"), f"{path}[{index}]")
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        place = child(path, key)
        if not path and key in _META_FIELDS:
            continue
        below = field_schema(schema, key)
        if below is not None:
            yield from unknown_fields(inner, below, place)
        elif not anything:
            yield place, list(known.get("properties", {}))


def field_schema(schema: Json, key: str) -> Json:
    """The schema of a field of an object, or None if it is not declared."""
    if schema is None:
        return None
    return schema.get("properties", {}).get(key, schema.get("additionalProperties"))


def drop_nulls(value: Json, schema: Json) -> None:
    """Removes, in place, each null that no default will replace."""
    if isinstance(value, list):
        for item in value:
            drop_nulls(item, (schema or {}).get("items"))
    elif isinstance(value, dict):
        for key in list(value):
            below = field_schema(schema, key)
            if value[key] is None and below is not None and "default" not in below:
                del value[key]
            else:
                drop_nulls(value[key], below)


def fill_defaults(value: Json, schema: Json) -> None:
    """Puts, in place, the schema's defaults where a field is absent or null."""
    if schema is None:
        return
    if isinstance(value, list):
        for item in value:
            fill_defaults(item, schema.get("items"))
    elif isinstance(value, dict):
        for key, below in schema.get("properties", {}).items():
            if "default" in below and value.get(key) is None:
                value[key] = copy.deepcopy(below["default"])
        for key, inner in value.items():
            fill_defaults(inner, field_schema(schema, key))
