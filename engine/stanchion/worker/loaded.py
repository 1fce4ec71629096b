"""What a child found in the application, as it tells its supervisor, which imports none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the worker's flags leave to the App: where its Redis is, and which Sidekiq version is written."""

    redis_url: str
    wire: str

    def dump(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def load(cls, fields: Mapping[str, Any]) -> Self:
        """What `dump` gave."""
        return cls(fields["redis_url"], fields["wire"])
