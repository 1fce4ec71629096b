"""Typed reading of one object of a manifest, remembering its path for error messages.

Called by the `from_manifest` constructors beside it. The manifest has passed its schema already, so a
wrong type here means the caller skipped that step; it is named, never guessed around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from stanchion.errors import InvalidPolicy

T = TypeVar("T")
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    """One JSON object and where it stands, e.g. `spec.workers`. An absent or null field gives the default."""

    values: Json
    path: str

    def __post_init__(self) -> None:
        if not isinstance(self.values, Mapping):
            raise InvalidPolicy(self.path, f"must be an object, not {type(self.values).__name__}")

    def __contains__(self, field: str) -> bool:
        return self.values.get(field) is not None

    @overload
    def text(self, field: str, default: str) -> str: ...
    @overload
    def text(self, field: str, default: None = None) -> str | None: ...
    def text(self, field: str, default: str | None = None) -> str | None:
        return self._typed(field, str, default)

    @overload
    def integer(self, field: str, default: int) -> int: ...
    @overload
    def integer(self, field: str, default: None = None) -> int | None: ...
    def integer(self, field: str, default: int | None = None) -> int | None:
        return self._typed(field, int, default)

    @overload
    def flag(self, field: str, default: bool) -> bool: ...
    @overload
    def flag(self, field: str, default: None = None) -> bool | None: ...
    def flag(self, field: str, default: bool | None = None) -> bool | None:
        return self._typed(field, bool, default)

    def number(self, field: str) -> float | None:
        """A JSON number as float: 5 and 5.0 are the same setting."""
        value = self.values.get(field)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(field, "a number", value)
        return float(value)

    def choice(self, field: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.text(field, default)
        if value not in allowed:
            raise InvalidPolicy(f"{self.path}.{field}", f"must be one of {', '.join(allowed)}; not {value!r}")
        return value

    def required(self, field: str) -> str:
        value = self.text(field)
        if not value:
            raise InvalidPolicy(f"{self.path}.{field}", "is required")
        return value

    def texts(self, field: str) -> tuple[str, ...] | None:
        """A list of strings, or None if absent: an empty list is a statement, an absent one is not."""
        values = self._typed(field, list, None)
        if values is None:
            return None
        for value in values:
            if not isinstance(value, str):
                raise self._wrong(field, "a list of strings", value)
        return tuple(values)

    def section(self, field: str) -> Section | None:
        value = self.values.get(field)
        return None if value is None else Section(value, f"{self.path}.{field}")

    def sections(self, field: str) -> Iterator[Section]:
        for index, value in enumerate(self._typed(field, list, None) or ()):
            yield Section(value, f"{self.path}.{field}[{index}]")

    def opaque(self, field: str) -> Any:
        """A part of the manifest that is passed on unread, e.g. `resources`."""
        return self.values.get(field)

    def _typed(self, field: str, kind: type[T], default: T | None) -> T | None:
        value = self.values.get(field)
        if value is None:
            return default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self._wrong(field, kind.__name__, value)
        return value

    def _wrong(self, field: str, wanted: str, value: object) -> InvalidPolicy:
        return InvalidPolicy(f"{self.path}.{field}", f"must be {wanted}, not {value!r}")
