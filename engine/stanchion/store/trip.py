"""One trip of a child: what it finished goes in, what it may run next comes out, in one script call.

Called by the child's trip loop. A trip is planned once and its bytes are sent until they are answered, so
that a lost reply cannot record an outcome twice. It must never decide what an outcome is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from stanchion.metrics import runtime_bucket
from stanchion.store import keys
from stanchion.store.script import Argument, AsyncClient, Key, Script

SCRIPT = Script("finish_fetch")
ANY_EPOCH = "-"
"""Passed for an epoch: no check. For a configuration that cannot be read now; the last good one holds."""


class Kind(StrEnum):
    """Where a job goes after an attempt: to the set it names, or (done, discard, expired) away."""

    DONE = "done"
    RETRY = "retry"
    DEAD = "dead"
    DISCARD = "discard"
    SNOOZE = "snooze"
    """Into `schedule`: it comes back, and no failure is counted."""
    EXPIRED = "expired"
    """It began too late to be of use and was not run."""


class Status(StrEnum):
    """How a trip was answered; only the first two took effect."""

    OK = "OK"
    REPEAT = "REPEAT"
    STALE = "STALE"
    FENCED = "FENCED"
    RECONFIG = "RECONFIG"


class Answer(StrEnum):
    """What became of one outcome."""

    RECORDED = "r"
    LOST = "l"
    REFUSED = "e"


_ANSWERS: Mapping[str, Answer] = {answer.value: answer for answer in Answer}


class Ended(NamedTuple):
    """One attempt that ended, as the script records it. A tuple: one is made for every job.

    `payload` and `score` (epoch seconds) are the new entry of its set; the two limits trim `dead`.
    """

    token: str
    queue: str
    job_name: str
    jid: str
    kind: Kind
    milliseconds: int
    failed: bool = False
    payload: bytes = b""
    score: float = 0.0
    dead_oldest: float = 0.0
    dead_jobs: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """One queue to take from; `paused` as its policy says (Redis adds what is paused at run time)."""

    name: str
    paused: bool = False


class Leased(NamedTuple):
    """A job in this incarnation's hands: its token, the queue it came from, and its exact bytes."""

    token: str
    queue: str
    payload: bytes

    @classmethod
    def read(cls, token: bytes, value: bytes) -> Leased:
        """From a lease entry, `queue|fetched at ms|payload`."""
        queue, _, payload = value.split(b"|", 2)
        return cls(token.decode(), queue.decode(), payload)


@dataclass(frozen=True, slots=True)
class Trip:
    """A planned trip: the exact call, to be sent until it is answered."""

    keys: tuple[Key, ...] = field(repr=False)
    args: tuple[Argument, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a trip brought: an answer per outcome, the leased jobs, the paused queues, jobs left ready."""

    status: Status
    answers: tuple[Answer, ...]
    jobs: tuple[Leased, ...]
    paused: frozenset[str]
    left: int


def plan(
    incarnation: str,
    number: int,
    *,
    epoch: str,
    free: int,
    sources: Sequence[Source],
    ended: Sequence[Ended],
    now: float,
) -> Trip:
    """The call for trip `number`: take up to `free` jobs from `sources` in their order, record `ended`."""
    day = datetime.fromtimestamp(now, UTC).date().isoformat()
    names: list[Key] = [
        keys.trip(incarnation),
        keys.lease(incarnation),
        keys.PAUSED,
        keys.CONFIG_EPOCH,
        keys.RECOVERIES,
        keys.RETRY,
        keys.DEAD,
        keys.SCHEDULE,
        keys.STAT_PROCESSED,
        keys.STAT_FAILED,
        keys.stat_day("processed", day),
        keys.stat_day("failed", day),
    ]
    args: list[Argument] = [number, epoch, free, len(sources), len(ended)]
    for source in sources:
        queue = source.name
        names += (keys.queue(queue), keys.inbox(incarnation, queue), keys.consumers(queue))
        args += (queue, "1" if source.paused else "0")
    positions: dict[Key, int] = {}
    for one in ended:
        counters, runtime = keys.counters(one.queue), keys.runtime(one.job_name)
        for key in (counters, runtime):
            if key not in positions:
                names.append(key)
                positions[key] = len(names)
        args += _outcome(one, positions[counters], positions[runtime] if one.job_name else 0)
    return Trip(tuple(names), tuple(args))


def _outcome(one: Ended, counters: int, runtime: int) -> tuple[Argument, ...]:
    """What is ours is one argument: more of them cost more than taking this one apart."""
    facts = (
        f"{one.token} {one.kind} {one.score!r} {one.dead_oldest!r} {one.dead_jobs} {counters} {runtime} "
        f"b{runtime_bucket(one.milliseconds)} {one.milliseconds} {one.failed:d}"
    )
    return (one.jid, one.payload, facts)


def read(raw: Sequence[Any]) -> Reply:
    """The script's reply as a value."""
    status, answers, jobs, paused, left = raw
    pairs = zip(jobs[::2], jobs[1::2], strict=True)
    return Reply(
        Status(status.decode()),
        tuple(map(_ANSWERS.__getitem__, answers.decode())),
        tuple(Leased.read(token, value) for token, value in pairs),
        frozenset(name.decode() for name in paused),
        left,
    )


async def send(client: AsyncClient, trip: Trip) -> Reply:
    """Make the trip. Raises redis-py's errors; the same trip may then be sent again."""
    return read(await SCRIPT.arun(client, trip.keys, trip.args))
