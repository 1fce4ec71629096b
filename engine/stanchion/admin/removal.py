"""Removes one job for good from wherever it waits. Called by `stanchion job delete`.

A job in a process's hands is never touched: its process would record an outcome for a job that is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import redis

from stanchion.store import entries, ready_list
from stanchion.store.entries import Answer, Entry
from stanchion.store.search import Place, Sighting

IN_HANDS = (Place.LEASED, Place.INBOX, Place.RUNNING)


@dataclass(frozen=True, slots=True)
class Removal:
    """How many copies were removed (or would be), and which processes hold one."""

    removed: int
    held_by: tuple[str, ...]


def remove(client: redis.Redis, sightings: Sequence[Sighting], *, dry_run: bool = False) -> Removal:
    """Remove each sighting by its exact bytes; one that moved on meanwhile is left alone."""
    waiting = [sighting for sighting in sightings if sighting.place not in IN_HANDS]
    held_by = tuple(sighting.holder for sighting in sightings if sighting.place in IN_HANDS)
    removed = len(waiting) if dry_run else sum(_remove(client, sighting) for sighting in waiting)
    return Removal(removed, held_by)


def _remove(client: redis.Redis, sighting: Sighting) -> int:
    if sighting.place is Place.READY:
        return ready_list.remove(client, sighting.queue, sighting.payload)
    entry = Entry(sighting.payload, sighting.score)
    return entries.delete(client, sighting.place.value, [entry]).count(Answer.DONE)
