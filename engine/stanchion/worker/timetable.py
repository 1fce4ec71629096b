"""The periodic jobs of one application, as its child tells them to the supervisor, which imports none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from stanchion.app import App
from stanchion.call import NO_OPTIONS, Call
from stanchion.dialect import Dialect
from stanchion.gate.push import Intent, View, retries
from stanchion.periodic import Periodic, entry_id

JID_DIGITS = 24


@dataclass(frozen=True, slots=True)
class Entry:
    """One periodic job: when it is due, and the call that each tick makes."""

    periodic: Periodic
    call: Call

    @property
    def entry(self) -> str:
        """Its name in Redis."""
        return entry_id(self.call.name, self.call.queue, self.periodic)

    def payload(self, tick: float, now: float, view: View, dialect: Dialect) -> bytes:
        """What one tick enqueues. The same tick has the same jid, whoever enqueues it."""
        jid = hashlib.sha256(f"{self.entry} {tick!r}".encode()).hexdigest()[:JID_DIGITS]
        job = Intent.of(self.call, now, dialect).job
        return job.replace(jid=jid, retry=retries(self.call, view), periodic_at=tick).dump()

    def dump(self) -> dict[str, Any]:
        """As JSON has it."""
        call, periodic = self.call, self.periodic
        return {
            "entry": self.entry,
            "line": periodic.line,
            "time_zone": periodic.time_zone,
            "missed": periodic.missed,
            "args": call.args,
            "name": call.name,
            "queue": call.queue,
            "retries": call.retries,
            "wire_fields": dict(call.wire_fields),
            "expires_in_seconds": call.expires_in_seconds,
        }

    @classmethod
    def load(cls, fields: Mapping[str, Any]) -> Self:
        """What `dump` gave."""
        call = Call.of(
            fields["name"],
            fields["args"],
            queue=fields["queue"],
            retries=fields["retries"],
            wire_fields=fields["wire_fields"],
            expires_in_seconds=fields["expires_in_seconds"],
        )
        args = tuple(fields["args"])
        return cls(Periodic(fields["line"], fields["time_zone"], fields["missed"], args), call)


def entries_of(app: App) -> tuple[Entry, ...]:
    """Every periodic job of an App and its JobSets."""
    return tuple(
        Entry(periodic, definition.bound(periodic.args, NO_OPTIONS))
        for definition in app.registry.values()
        for periodic in definition.periodic
    )


def digest(entries: Sequence[Entry]) -> str:
    """The same for workers that have the same periodic jobs, so that one of them leads."""
    names = json.dumps(sorted(entry.entry for entry in entries))
    return hashlib.sha256(names.encode()).hexdigest()[:16]
