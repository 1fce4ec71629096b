"""Finds a job by its id, wherever Redis has it: ready, in a worker's hands, scheduled, in retry, or dead.

Called by the verbs a person uses. Reads only. Each place is looked through up to a bound, and the answer says
where that bound was reached. Redis has no index of ids: substrings are looked for, then parsed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import redis

from stanchion.job import Job
from stanchion.store import keys
from stanchion.store.entries import Entry
from stanchion.store.key_types import wrong_types
from stanchion.store.work_record import read_all

PER_CALL = 1000
"""Jobs read by one command."""
LIMIT = 100_000
"""Jobs looked at in each place unless the caller says otherwise."""
SETS = (keys.SCHEDULE, keys.RETRY, keys.DEAD)
STAND_IN = "sha1:"
"""What the id of bytes that are no job begins with."""
PLAIN = re.compile(r"[0-9A-Za-z_:.-]+")
"""Ids that JSON writes in one way only: all of ours and of Ruby's. Others may be escaped."""


class Place(StrEnum):
    """Where a job can be. `RUNNING`: a Ruby process says it runs it, and Redis has it nowhere else."""

    READY = "ready"
    INBOX = "inbox"
    LEASED = "leased"
    RUNNING = "running"
    SCHEDULE = "schedule"
    RETRY = "retry"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A job in one place. `position` counts from the head of its queue, 1 being the next to run; `score` is
    its place's time in epoch seconds (due, or dead since); `holder` the process that has it, `since_seconds`
    from when, epoch seconds.
    """

    place: Place
    payload: bytes
    queue: str = ""
    position: int = 0
    score: float = 0.0
    holder: str = ""
    since_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """What was found, the keys of which only a part was looked at, and those skipped: of another type."""

    sightings: tuple[Sighting, ...]
    cut_short: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


def identify(payload: bytes) -> str:
    """The job's id, or a stand-in made from the bytes where they are no job."""
    job = Job.read(payload)
    return job.jid if job else STAND_IN + hashlib.sha1(payload, usedforsecurity=False).hexdigest()[:12]


def find(client: redis.Redis, jid: str, queues: Iterable[str], *, limit: int = LIMIT) -> Search:
    """Everywhere the job is. A job may move while we look, so an empty search is made once more."""
    first = _look(client, jid, tuple(queues), limit)
    return first if first.sightings else _look(client, jid, tuple(queues), limit)


def in_set(client: redis.Redis, set_key: str, jid: str, *, limit: int = LIMIT) -> tuple[list[Entry], bool]:
    """The entries of a sorted set with this id, and whether all of the set was looked at."""
    pattern = b"*" + _word(jid) + b"*"
    found: dict[bytes, float] = {}
    cursor, looked_at = 0, 0
    while True:
        reply: Any = client.zscan(set_key, cursor, match=pattern, count=PER_CALL)
        cursor, members = reply
        found.update((member, score) for member, score in members if identify(member) == jid)
        looked_at += PER_CALL
        if cursor == 0 or looked_at >= limit:
            return [Entry(member, score) for member, score in found.items()], cursor == 0


def _look(client: redis.Redis, jid: str, queues: Sequence[str], limit: int) -> Search:
    """In the order a job moves through the places, so that one on its way is met further on."""
    sightings: list[Sighting] = []
    cut_short: list[str] = []
    lists = {keys.queue(queue): queue for queue in queues}
    wrong = wrong_types(client, {**dict.fromkeys(lists, "list"), **dict.fromkeys(SETS, "zset")})
    for queue in (queue for key, queue in lists.items() if key not in wrong):
        sighting, is_whole = _in_list(client, queue, jid, limit)
        sightings += sighting
        cut_short += [] if is_whole else [keys.queue(queue)]
    sightings += _in_hands(client, jid)
    for set_key in (set_key for set_key in SETS if set_key not in wrong):
        entries, is_whole = in_set(client, set_key, jid, limit=limit)
        sightings += [Sighting(Place(set_key), entry.member, score=entry.score) for entry in entries]
        cut_short += [] if is_whole else [set_key]
    return Search(tuple(sightings), tuple(cut_short), tuple(wrong))


def _word(jid: str) -> bytes:
    """What every payload with this id holds, to parse no other."""
    return jid.encode() if PLAIN.fullmatch(jid) and not jid.startswith(STAND_IN) else b""


def _in_list(client: redis.Redis, queue: str, jid: str, limit: int) -> tuple[list[Sighting], bool]:
    """Newest first: pushes then only show a job twice, and what workers take moves none past us unseen."""
    word = _word(jid)
    found: dict[bytes, Sighting] = {}
    for start in range(0, limit, PER_CALL):
        # The length last: what is pushed in between then makes us look further, not stop too early. No
        # transaction: a Redis that is full refuses even reads within one.
        with client.pipeline(transaction=False) as pipeline:
            pipeline.lrange(keys.queue(queue), start, start + PER_CALL - 1)
            pipeline.llen(keys.queue(queue))
            payloads, length = pipeline.execute()
        for index, payload in enumerate(payloads, start):
            if word in payload and identify(payload) == jid:
                found[payload] = Sighting(Place.READY, payload, queue, position=length - index)
        if start + PER_CALL >= length:
            return list(found.values()), True
    return list(found.values()), False


def _in_hands(client: redis.Redis, jid: str) -> Iterator[Sighting]:
    ours = [identity.decode(errors="replace") for identity in client.hkeys(keys.BEATS)]  # type: ignore[union-attr]
    for identity in ours:
        yield from _held(client, identity, jid)
    known: Any = client.smembers(keys.PROCESSES)
    for identity in sorted({name.decode(errors="replace") for name in known} - set(ours)):
        yield from _run_by_ruby(client, identity, jid)


def _held(client: redis.Redis, identity: str, jid: str) -> Iterator[Sighting]:
    """Leases and inboxes of the children of one process of ours."""
    members: Any = client.hgetall(keys.members(identity))
    for name, queue_names in members.items():
        incarnation = name.decode()
        leases: Any = client.hvals(keys.lease(incarnation))
        for value in leases:
            queue, fetched_at_ms, payload = value.split(b"|", 2)
            if identify(payload) == jid:
                yield Sighting(
                    Place.LEASED, payload, queue.decode(), holder=identity,
                    since_seconds=int(fetched_at_ms) / 1000,
                )  # fmt: skip
        for queue_name in json.loads(queue_names):
            waiting: Any = client.lrange(keys.inbox(incarnation, queue_name), 0, -1)
            for payload in waiting:
                if identify(payload) == jid:
                    yield Sighting(Place.INBOX, payload, queue_name, holder=identity)


def _run_by_ruby(client: redis.Redis, identity: str, jid: str) -> Iterator[Sighting]:
    """What a Ruby process says it runs."""
    new: Any = client.hvals(keys.work(identity))
    old: Any = client.hvals(keys.work_of_sidekiq_6(identity))
    for running in read_all(new or old):
        if identify(running.payload) == jid:
            yield Sighting(
                Place.RUNNING, running.payload, running.queue, holder=identity,
                since_seconds=running.started_at_seconds,
            )  # fmt: skip
