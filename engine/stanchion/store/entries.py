"""The entries of a sorted set of jobs (`schedule`, `retry`, `dead`): read by the page, moved by exact bytes.

Called by the verbs a person uses. A move names the bytes that were looked at, so an entry that somebody
changed or took meanwhile is left alone and answered as gone. It must never decide what an entry becomes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import Any

import redis

from stanchion.store import keys
from stanchion.store.script import Argument, Key, Script

PER_CALL = 200
"""Entries moved by one script call: more of them would hold Redis up for everybody else."""
REQUEUE, BURY = Script("requeue"), Script("bury")


@dataclass(frozen=True, slots=True)
class Entry:
    """One member, exactly as it lies there, and its score in epoch seconds."""

    member: bytes
    score: float


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a walk through a set goes on: at a score, past so many entries that have exactly this score.

    Unlike a rank it still holds when others take entries from the front meanwhile.
    """

    score: float
    skip: int = 0


class Answer(StrEnum):
    """What became of one entry."""

    DONE = "d"
    GONE = "g"
    REFUSED = "r"


@dataclass(frozen=True, slots=True)
class Requeue:
    """One entry and what it becomes: a payload in a queue."""

    entry: Entry
    queue: str
    payload: bytes


def start(*, newest_first: bool) -> Cursor:
    """The beginning of a walk."""
    return Cursor(math.inf if newest_first else -math.inf)


def page(client: redis.Redis, set_key: str, cursor: Cursor, *, newest_first: bool = False) -> list[Entry]:
    """The next entries in the order of their scores, at most PER_CALL."""
    found: Any
    if newest_first:
        found = client.zrevrangebyscore(
            set_key, cursor.score, "-inf", start=cursor.skip, num=PER_CALL, withscores=True
        )
    else:
        found = client.zrangebyscore(
            set_key, cursor.score, "+inf", start=cursor.skip, num=PER_CALL, withscores=True
        )
    return [Entry(member, score) for member, score in found]


def following(cursor: Cursor, entries: Sequence[Entry], removed: Set[bytes] = frozenset()) -> Cursor:
    """Where to go on after a page of which the members `removed` are in the set no more. Pure."""
    if not entries:
        return cursor
    score = entries[-1].score
    ties = takewhile(lambda entry: entry.score == score, reversed(entries))
    stayed = sum(entry.member not in removed for entry in ties)
    return Cursor(score, stayed + (cursor.skip if score == cursor.score else 0))


def requeue(client: redis.Redis, set_key: str, moves: Sequence[Requeue]) -> list[Answer]:
    """Make entries ready, at most PER_CALL of them; an answer for each."""
    names: list[Key] = [set_key, keys.QUEUES]
    args: list[Argument] = []
    for move in moves:
        names += (keys.queue(move.queue), keys.counters(move.queue))
        args += (move.entry.member, move.payload, move.queue)
    return _answers(REQUEUE.run(client, names, args))


def bury(
    client: redis.Redis,
    set_key: str,
    entries: Sequence[Entry],
    *,
    now: float,
    keep_jobs: int,
    keep_seconds: float,
) -> list[Answer]:
    """Put entries into `dead` as they are, at most PER_CALL of them, and trim it; an answer for each."""
    args: list[Argument] = [repr(now), repr(now - keep_seconds), keep_jobs]
    return _answers(BURY.run(client, [set_key, keys.DEAD], args + [entry.member for entry in entries]))


def delete(client: redis.Redis, set_key: str, entries: Sequence[Entry]) -> list[Answer]:
    """Remove entries for good; an answer for each."""
    with client.pipeline(transaction=False) as pipeline:
        for entry in entries:
            pipeline.zrem(set_key, entry.member)
        return [Answer.DONE if removed else Answer.GONE for removed in pipeline.execute()]


def clear(client: redis.Redis, set_key: str) -> int:
    """Remove all that is in the set at this instant; returns how many entries there were just before.

    No transaction: a Redis that is full refuses even a removal within one, and this is how it is emptied.
    """
    with client.pipeline(transaction=False) as pipeline:
        pipeline.zcard(set_key)
        pipeline.unlink(set_key)
        count, _ = pipeline.execute()
    return int(count)


def count(client: redis.Redis, set_key: str) -> int:
    """How many entries the set has."""
    found: Any = client.zcard(set_key)
    return int(found)


def clock(client: redis.Redis) -> float:
    """Redis's time, epoch seconds."""
    seconds, microseconds = client.time()
    return float(seconds) + float(microseconds) / 1e6


def _answers(letters: bytes) -> list[Answer]:
    return [Answer(letter) for letter in letters.decode()]
