"""What a child found in the application, as it tells its supervisor, which imports none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from stanchion.app import App
from stanchion.worker.timetable import Entry, entries_of


@dataclass(frozen=True, slots=True)
class Loaded:
    """Where its Redis is, which Sidekiq version is written, and its periodic jobs."""

    redis_url: str
    wire: str
    periodic: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, app: App) -> Self:
        """What the App says, the worker's flags being part of its settings by now."""
        return cls(app.settings.redis_url, app.settings.wire, entries_of(app))

    def dump(self) -> dict[str, Any]:
        """As JSON has it."""
        periodic = [entry.dump() for entry in self.periodic]
        return {"redis_url": self.redis_url, "wire": self.wire, "periodic": periodic}

    @classmethod
    def load(cls, fields: Mapping[str, Any]) -> Self:
        """What `dump` gave."""
        periodic = tuple(Entry.load(entry) for entry in fields["periodic"])
        return cls(fields["redis_url"], fields["wire"], periodic)
