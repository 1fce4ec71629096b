"""The life of a process and of its children, as Redis knows it: enlist, register, beat, renew.

Called by the supervisor. Everything here is answered with FENCED (raised as LeaseLost) once the process was
declared dead: it must then start a new life and never write under its old name again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import redis.asyncio

from stanchion.errors import LeaseLost
from stanchion.store import keys
from stanchion.store.script import Script

PROCESS_TTL_SECONDS = 60
CLEANUP_SECONDS = 60
ENLIST, REGISTER, BEAT, RENEW = Script("enlist"), Script("register"), Script("beat"), Script("renew")
RETURN_INBOX = Script("return_inbox")


@dataclass(frozen=True, slots=True)
class News:
    """What a heartbeat brought back: a signal from the web page, the configuration's epoch, paused queues."""

    signal: str
    epoch: str
    paused: frozenset[str]


async def enlist(client: redis.asyncio.Redis, identity: str) -> None:
    """Open the beat counter of a process that begins."""
    await ENLIST.arun(client, [keys.BEATS], [identity])


async def register(
    client: redis.asyncio.Redis, identity: str, incarnation: str, queues: Sequence[str]
) -> None:
    """List a child under its process before it starts. Raises LeaseLost if the process was declared dead."""
    names = [keys.BEATS, keys.members(identity), keys.trip(incarnation)]
    names += [keys.consumers(queue) for queue in queues]
    reply = await REGISTER.arun(client, names, [identity, incarnation, json.dumps(list(queues))])
    if reply == b"FENCED":
        raise LeaseLost(f"process {identity} was declared dead before it could register a child")


async def beat(
    client: redis.asyncio.Redis,
    identity: str,
    process: Mapping[str, str],
    work: Mapping[str, str],
    *,
    has_old_work: bool = False,
) -> News:
    """Move the counter, write Sidekiq's process and work records, hear the news.

    `has_old_work`: under the name that Sidekiq up to 6.4.1 reads as well. Raises LeaseLost if the process
    was declared dead.
    """
    names = [
        keys.BEATS,
        keys.PROCESSES,
        keys.process(identity),
        keys.work(identity),
        keys.work_of_sidekiq_6(identity),
        keys.signals(identity),
        keys.PAUSED,
        keys.CONFIG_EPOCH,
    ]
    args: list[str | int] = [identity, PROCESS_TTL_SECONDS, int(has_old_work), 2 * len(process)]
    for record in (process, work):
        for name, value in record.items():
            args += (name, value)
    reply = await BEAT.arun(client, names, args)
    if reply[0] == b"FENCED":
        raise LeaseLost(f"process {identity} was declared dead: its beats did not reach Redis in time")
    signal, epoch, paused = reply[1:]
    # Whatever strangers put there: words we do not know mean nothing, and must not end the beat.
    return News(_text(signal), _text(epoch), frozenset(_text(name) for name in paused))


async def renew(
    client: redis.asyncio.Redis,
    incarnation: str,
    queues: Sequence[str],
    *,
    answered: int,
    held: Iterable[str],
) -> int:
    """Name the tokens a child holds; older unnamed leases go back to their queues. Returns how many did."""
    names = [keys.trip(incarnation), keys.lease(incarnation), *(keys.queue(queue) for queue in queues)]
    returned: int = await RENEW.arun(client, names, [answered, len(queues), *queues, *held])
    return returned


async def return_inboxes(client: redis.asyncio.Redis, incarnation: str, queues: Sequence[str]) -> int:
    """Give back what waits in a child's inboxes. Returns how many jobs."""
    names: list[str] = []
    for queue in queues:
        names += (keys.inbox(incarnation, queue), keys.queue(queue))
    returned: int = await RETURN_INBOX.arun(client, names, [])
    return returned


async def strike_dead(client: redis.asyncio.Redis) -> int:
    """Strike from `processes` those whose records have run out, as Sidekiq's own cleanup does, under its
    lock: once a minute, whoever asks. Returns how many. One that lives lists itself again at its next beat.
    """
    if not await client.set(keys.PROCESS_CLEANUP, "1", nx=True, ex=CLEANUP_SECONDS):
        return 0
    identities: Any = sorted(await client.smembers(keys.PROCESSES))
    async with client.pipeline(transaction=False) as pipeline:
        for identity in identities:
            pipeline.hexists(identity, "info")
        found = await pipeline.execute(raise_on_error=False)
    # A reply that is an error, not 0, is a key of another type: nobody we know of, and nobody's to strike.
    gone = [identity for identity, has_info in zip(identities, found, strict=True) if has_info is False]
    return int(await client.srem(keys.PROCESSES, *gone)) if gone else 0


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")
