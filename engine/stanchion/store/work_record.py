"""One running job as its process records it under `<identity>:work`, in every form Sidekiq has written."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Running:
    """A job in a process's hands, from when (epoch seconds), and its bytes."""

    queue: str
    payload: bytes
    started_at_seconds: float


def read_all(records: Iterable[bytes]) -> tuple[Running, ...]:
    """Those that can be read: what a stranger wrote in another form names no job."""
    return tuple(running for record in records if (running := read(record)) is not None)


def read(record: bytes) -> Running | None:
    """One slot. The payload is JSON in JSON; Sidekiq before 6.1 wrote an object. None if it is no record."""
    try:
        fields = json.loads(record)
        payload = fields["payload"]
        text = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
        return Running(str(fields["queue"]), text.encode(), float(fields["run_at"]))
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return None
