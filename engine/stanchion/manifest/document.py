"""One manifest as it was read: its JSON value and where in the file each field stands.

Made by `load`, read by everything else in this room. Never changes the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list, or dict with string keys."""

DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One YAML document. `lines` maps a field's path to its line, `bare` to the unquoted text that became
    a number, a boolean or null there, `duplicates` to the line of an earlier field of that name."""

    file: str
    line: int
    body: Mapping[str, Json]
    lines: Mapping[str, int] = field(default_factory=dict)
    bare: Mapping[str, str] = field(default_factory=dict)
    duplicates: Mapping[str, int] = field(default_factory=dict)

    @property
    def api_version(self) -> str:
        return _text(self.body.get("apiVersion"))

    @property
    def kind(self) -> str:
        return _text(self.body.get("kind"))

    @property
    def name(self) -> str:
        return _text(self._metadata.get("name"))

    @property
    def namespace(self) -> str:
        """The namespace stated, else `default`, as for kubectl without a context."""
        return _text(self._metadata.get("namespace")) or DEFAULT_NAMESPACE

    @property
    def _metadata(self) -> Mapping[str, Json]:
        metadata = self.body.get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    def line_of(self, path: str) -> int:
        """The line of a field, or of the nearest field around it that the file has."""
        while path and path not in self.lines:
            path = parent(path)
        return self.lines.get(path, self.line)


def parent(path: str) -> str:
    """`a.b[0]` → `a.b` → `a` → the empty path."""
    return path[: max(path.rfind("."), path.rfind("["), 0)]


def child(path: str, key: str) -> str:
    """The path of a field of the object at `path`."""
    return f"{path}.{key}" if path else key


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
