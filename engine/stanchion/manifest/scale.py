"""The API server's own check of the number behind the scale subresource. Pure; called by `check`."""

from __future__ import annotations

from collections.abc import Iterator

from stanchion.manifest import problem
from stanchion.manifest.document import Json
from stanchion.manifest.problem import Cause

_MAX_INT32 = 2**31 - 1


def causes(value: Json, path: tuple[str, ...]) -> Iterator[Cause]:
    """Beside the schema's causes: the number must be an int32 of at least 0. Its field has a leading dot."""
    if not path:
        return
    name = "".join(f".{key}" for key in path)
    for depth, key in enumerate(path, 1):
        if not isinstance(value, dict):
            reached = "".join(f".{step}" for step in path[:depth])
            yield _accessor(name, reached, value, "map[string]interface{}")
            return
        if key not in value:
            return
        value = value[key]
    if isinstance(value, bool) or not isinstance(value, int):
        yield _accessor(name, name, value, "int64")
    elif value < 0:
        yield problem.invalid(name, "should be a non-negative integer", value)
    elif value > _MAX_INT32:
        yield problem.invalid(name, f"should be less than or equal to {_MAX_INT32}", value)


def _accessor(name: str, reached: str, value: Json, wanted: str) -> Cause:
    detail = (
        f"{reached} accessor error: {_go_value(value)} is of the type {_go_type(value)}, expected {wanted}"
    )
    return problem.invalid(name, detail, 0)


def _go_type(value: Json) -> str:
    if isinstance(value, bool):
        return "bool"
    names = {int: "int64", float: "float64", str: "string", list: "[]interface {}", type(None): "<nil>"}
    return names.get(type(value), "map[string]interface {}")


def _go_value(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_go_value(item)}" for key, item in sorted(value.items())) + "]"
    if isinstance(value, list):
        return "[" + " ".join(_go_value(item) for item in value) + "]"
    if isinstance(value, float):
        return problem.go_float(value)
    return "<nil>" if value is None else str(value)
