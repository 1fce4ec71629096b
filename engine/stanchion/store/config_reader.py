"""Reads the config: the index, then only the hashes that differ from what the caller already holds.

Called by the gate's config cache. One generator says what to ask next; the two shells, blocking and
asyncio, only carry its questions to Redis and back.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import redis
import redis.asyncio
from redis.exceptions import RedisError

from stanchion.policy.fields import KINDS
from stanchion.store import keys

Question = list[tuple[str, str]]
Plan = Generator[Question, list[Any], "Snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one reading found.

    `epoch` is "" where Redis holds none; `index` maps entry (`kind/name`) to stamp; `hashes` has the fields
    of each entry whose stamp was not the known one; `problems` what could not be read. `failure` is set
    if Redis did not answer; then the rest is empty.
    """

    epoch: str = ""
    index: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    failure: str = ""


def read(client: redis.Redis, known: Mapping[str, str]) -> Snapshot:
    """Two round trips at most. `known`: entry -> stamp of the copies the caller trusts."""
    plan = _plan(known)
    question = next(plan)
    try:
        while True:
            with client.pipeline(transaction=False) as pipeline:
                for command, key in question:
                    getattr(pipeline, command)(key)
                question = plan.send(pipeline.execute(raise_on_error=False))
    except StopIteration as end:
        return _snapshot(end)
    except RedisError as error:
        return Snapshot(failure=str(error))


async def aread(client: redis.asyncio.Redis, known: Mapping[str, str]) -> Snapshot:
    """As `read`, on an asyncio client."""
    plan = _plan(known)
    question = next(plan)
    try:
        while True:
            async with client.pipeline(transaction=False) as pipeline:
                for command, key in question:
                    getattr(pipeline, command)(key)
                question = plan.send(await pipeline.execute(raise_on_error=False))
    except StopIteration as end:
        return _snapshot(end)
    except RedisError as error:
        return Snapshot(failure=str(error))


def _plan(known: Mapping[str, str]) -> Plan:
    """The epoch first, so that it is never newer than what is read after it: what is written in between
    brings a newer one, and the next gated call reads again. In no transaction: a full Redis refuses those.
    """
    epoch, found = yield [("get", keys.CONFIG_EPOCH), ("hgetall", keys.CONFIG_INDEX)]
    for answer in (epoch, found):
        if isinstance(answer, RedisError):
            raise answer
    index = text(found)
    problems = [f"{entry}: is of no kind this version knows" for entry in index if not _is_known(entry)]
    changed = [entry for entry in index if _is_known(entry) and known.get(entry) != index[entry]]
    answers = (yield [("hgetall", _key(entry)) for entry in changed]) if changed else []
    hashes = {}
    for entry, answer in zip(changed, answers, strict=True):
        if isinstance(answer, RedisError):
            problems.append(f"{entry}: cannot be read: {answer}")
        elif not answer:
            problems.append(f"{entry}: stands in the index but its hash is gone")
        else:
            hashes[entry] = text(answer)
    return Snapshot((epoch or b"").decode(), index, hashes, tuple(problems))


def _is_known(entry: str) -> bool:
    kind, _, name = entry.partition("/")
    return kind in KINDS and bool(name)


def _key(entry: str) -> str:
    kind, _, name = entry.partition("/")
    return keys.config(kind, name)


def _snapshot(end: StopIteration) -> Snapshot:
    snapshot: Snapshot = end.value
    return snapshot


def text(fields: Mapping[Any, Any]) -> dict[str, str]:
    """A hash as text. Bytes that are no UTF-8 become other text: the digest then shows the damage."""
    return {key.decode(errors="replace"): value.decode(errors="replace") for key, value in fields.items()}
