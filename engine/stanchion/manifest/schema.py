"""Validate a value against a structural schema, with the API server's own words for each cause.

Covers what our definitions use: type, format int32 and int64, enum, bounds (exclusive ones too), length,
pattern, item and property counts, required. A test holds the definitions to that. Pure; called by `check`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from stanchion.manifest import problem
from stanchion.manifest.document import Json, child
from stanchion.manifest.problem import Cause

_INT32 = range(-(2**31), 2**31)


def causes(value: Json, schema: Json, path: str = "") -> Iterator[Cause]:
    """Every way in which the value at `path` is not what the schema asks for."""
    yield from _type(value, schema, path)
    if isinstance(value, str):
        yield from _string(value, schema, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number(value, schema, path)
    elif isinstance(value, list):
        yield from _list(value, schema, path)
    if "enum" in schema and value not in schema["enum"]:
        yield problem.not_supported(path, value, schema["enum"])
    if isinstance(value, dict):
        yield from _object(value, schema, path)


def _type(value: Json, schema: Json, path: str) -> Iterator[Cause]:
    wanted = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") else [schema.get("type")]
    if wanted == [None]:
        return
    found, found_format = _type_of(value)
    fits = found in wanted or (found == "integer" and "number" in wanted)
    if fits or value is None:
        if value is None:
            yield problem.type_invalid(path, ",".join(wanted), "null")
    elif "format" in schema and isinstance(value, (bool, float, dict)):
        yield problem.type_invalid(path, schema["format"], found_format)
    else:
        yield problem.type_invalid(path, ",".join(wanted), found)


def _type_of(value: Json) -> tuple[str, str]:
    if isinstance(value, bool):
        return "boolean", ""
    if isinstance(value, int):
        return "integer", "int64"
    if isinstance(value, float):
        return "number", "float64"
    if isinstance(value, str):
        return "string", ""
    return ("array", "") if isinstance(value, list) else ("object", "")


def _string(value: str, schema: Json, path: str) -> Iterator[Cause]:
    """Only the first failure is reported, in this order."""
    if len(value) > schema.get("maxLength", len(value)):
        yield problem.too_long(path, schema["maxLength"])
    elif len(value) < schema.get("minLength", 0):
        yield problem.invalid(
            path, f"{path} in body should be at least {schema['minLength']} chars long", value
        )
    elif "pattern" in schema and not re.search(go_pattern(schema["pattern"]), value):
        yield problem.invalid(path, f"{path} in body should match '{schema['pattern']}'", value)


def go_pattern(pattern: str) -> str:
    r"""A Go pattern for Python: a final `$` must not match before a trailing newline."""
    return pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern


def _number(value: float, schema: Json, path: str) -> Iterator[Cause]:
    if schema.get("format") == "int32" and (isinstance(value, float) or value not in _INT32):
        detail = f"Checked value must be of type integer with format int32 in {path}"
        yield replace(problem.invalid("", detail, ""), about=path)
    for keyword, exclusive, over, inside, outside in (
        ("minimum", "exclusiveMinimum", -1, "greater than or equal to", "greater than"),
        ("maximum", "exclusiveMaximum", 1, "less than or equal to", "less than"),
    ):
        if keyword not in schema:
            continue
        bound = schema[keyword]
        beyond = (value - bound) * over
        if beyond > 0 or (beyond == 0 and schema.get(exclusive)):
            limit = problem.shown(float(bound) if isinstance(value, float) else bound)
            words = outside if schema.get(exclusive) else inside
            yield problem.invalid(path, f"{path} in body should be {words} {limit}", value)


def _list(value: list[Json], schema: Json, path: str) -> Iterator[Cause]:
    for index, item in enumerate(value):
        yield from causes(item, schema.get("items", {}), f"{path}[{index}]")
    if len(value) < schema.get("minItems", 0):
        yield problem.invalid(
            path, f"{path} in body should have at least {schema['minItems']} items", len(value)
        )
    if len(value) > schema.get("maxItems", len(value)):
        yield problem.too_many(path, len(value), schema["maxItems"])


def _object(value: dict[str, Json], schema: Json, path: str) -> Iterator[Cause]:
    if len(value) < schema.get("minProperties", 0):
        detail = f"{path} in body should have at least {schema['minProperties']} properties"
        yield problem.invalid(path, detail, len(value))
    if len(value) > schema.get("maxProperties", len(value)):
        yield problem.too_many(path, len(value), schema["maxProperties"])
    properties = schema.get("properties", {})
    for key, item in value.items():
        below = properties.get(key, schema.get("additionalProperties"))
        if below is not None:
            yield from causes(item, below, child(path, key))
    for key in schema.get("required", ()):
        if key not in value:
            yield problem.required(child(path, key))
