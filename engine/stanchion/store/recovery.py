"""Return the jobs of a dead process: fence it, then give its leases back, then strike it from the lists.

Called by the supervisor for a child it saw end, and by every supervisor for processes whose beats stand
still. Each step may be repeated, by anybody, at any time; it must never move a job before the fence stands.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis.asyncio

from stanchion.errors import LeaseLost, MalformedPayload
from stanchion.job import Job
from stanchion.store import keys
from stanchion.store.script import Argument, Key, Script
from stanchion.store.trip import Leased

RETURNS_BEFORE_QUARANTINE = 3
"""A job that comes back from a dead process more often than this is taken for the cause."""
FENCE_SECONDS = 86_400
RECOVERY_COUNT_SECONDS = 7 * 86_400
JOBS_PER_CALL = 200
FENCE, RECOVER, FORGET = Script("fence"), Script("recover"), Script("forget")


@dataclass(frozen=True, slots=True)
class Member:
    """One incarnation of a process and the queues it served. `beat` is the counter an observer saw stand
    still; empty when the parent saw the child end, which needs no further proof.
    """

    identity: str
    incarnation: str
    queues: tuple[str, ...]
    beat: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    """What a recovery did: the ids of the jobs that went back, and how many were quarantined."""

    jids: frozenset[str]
    quarantined: int


async def beats(client: redis.asyncio.Redis) -> dict[str, str]:
    """Every process and its beat counter. What is no text was not written by a process of ours."""
    found: dict[Any, Any] = await client.hgetall(keys.BEATS)
    texts = ((identity.decode(errors="ignore"), count) for identity, count in found.items())
    return {
        identity: count.decode(errors="replace") for identity, count in texts if identity.encode() in found
    }


async def members(client: redis.asyncio.Redis, identity: str, beat: str) -> list[Member]:
    """The incarnations listed under a process."""
    found: dict[Any, Any] = await client.hgetall(keys.members(identity))
    return [
        Member(identity, incarnation.decode(), tuple(json.loads(queues)), beat)
        for incarnation, queues in found.items()
    ]


async def under_watch(client: redis.asyncio.Redis, jids: Sequence[str]) -> frozenset[str]:
    """Those of `jids` that came back from a dead process and have not been through since."""
    if not jids:
        return frozenset()
    counts = await client.hmget(keys.RECOVERIES, list(jids))
    return frozenset(jid for jid, count in zip(jids, counts, strict=True) if count is not None)


async def retire(client: redis.asyncio.Redis, member: Member, *, counted: bool, now: float) -> Returned:
    """Fence an incarnation, return its jobs to the heads of their queues in order, and strike it.

    `counted` is False for a planned stop, which says nothing against the jobs it interrupted.
    Raises LeaseLost when the process turns out to be alive.
    """
    await fence(client, member)
    returned: set[str] = set()
    quarantined = 0
    while True:
        tokens: list[Any] = await client.hkeys(keys.lease(member.incarnation))
        if not tokens:
            break
        newest = sorted(tokens, key=_age, reverse=True)[:JOBS_PER_CALL]
        values: list[Any] = await client.hmget(keys.lease(member.incarnation), newest)
        jobs = [Leased.read(token, value) for token, value in zip(newest, values, strict=True) if value]
        quarantined += await _return(client, member.incarnation, jobs, counted=counted, now=now)
        returned.update(counted_under(job.payload) for job in jobs)
    await forget(client, member)
    return Returned(frozenset(returned), quarantined)


async def fence(client: redis.asyncio.Redis, member: Member) -> None:
    """Refuse every later trip of an incarnation and empty its inboxes. Raises LeaseLost if it is alive."""
    names: list[Key] = [keys.BEATS, keys.trip(member.incarnation)]
    for queue in member.queues:
        names += (keys.inbox(member.incarnation, queue), keys.queue(queue))
    if await FENCE.arun(client, names, [member.identity, member.beat, FENCE_SECONDS]) == b"ALIVE":
        raise LeaseLost(f"process {member.identity} beats again")


async def forget(client: redis.asyncio.Redis, member: Member) -> None:
    """Strike an incarnation that holds nothing any more from the lists of its process and its queues."""
    names: list[Key] = [
        keys.BEATS,
        keys.members(member.identity),
        keys.lease(member.incarnation),
        keys.PROCESSES,
        keys.work(member.identity),
        keys.work_of_sidekiq_6(member.identity),
    ]
    for queue in member.queues:
        names += (keys.consumers(queue), keys.inbox(member.incarnation, queue))
    await FORGET.arun(client, names, [member.identity, member.incarnation, "0", member.beat])


async def leave(client: redis.asyncio.Redis, identity: str, beat: str = "") -> None:
    """Strike a process whose incarnations are retired; `beat` as in Member."""
    names = [keys.BEATS, keys.members(identity), keys.lease(""), keys.PROCESSES]
    names += [keys.work(identity), keys.work_of_sidekiq_6(identity)]
    await FORGET.arun(client, names, [identity, "", "1", beat])


async def _return(
    client: redis.asyncio.Redis, incarnation: str, jobs: Sequence[Leased], *, counted: bool, now: float
) -> int:
    names: list[Key] = [keys.trip(incarnation), keys.lease(incarnation), keys.RECOVERIES, keys.DEAD]
    limit = RETURNS_BEFORE_QUARANTINE if counted else ""
    args: list[Argument] = [limit, RECOVERY_COUNT_SECONDS, repr(now)]
    for job in jobs:
        names.append(keys.queue(job.queue))
        args += (job.token, counted_under(job.payload), job.payload, _quarantined(job.payload, now))
    returned, quarantined = await RECOVER.arun(client, names, args)
    if returned < 0:
        raise LeaseLost(f"the fence of incarnation {incarnation} has gone")
    return int(quarantined)


def _age(token: bytes) -> tuple[int, int]:
    number, _, place = token.partition(b".")
    return int(number), int(place)


def counted_under(payload: bytes) -> str:
    """What a recovery is counted under: the job id, or a digest where the bytes are no job."""
    try:
        return Job.parse(payload).jid
    except MalformedPayload:
        return hashlib.sha1(payload, usedforsecurity=False).hexdigest()


def _quarantined(payload: bytes, now: float) -> bytes:
    try:
        job = Job.parse(payload)
    except MalformedPayload:
        return payload
    times = RETURNS_BEFORE_QUARANTINE + 1
    return job.replace(
        error_class="stanchion.Quarantined",
        error_message=f"the worker process died {times} times while it ran this job",
        failed_at=now,
    ).dump()
