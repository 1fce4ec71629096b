"""Writes config hashes by compare-and-set. Called by the operator, `stanchion apply` and `stanchion dev`.

It holds no policy of its own: who owns a hash is decided in the two scripts, atomically. The clients
and workers read with `config_reader`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import redis.asyncio

from stanchion.policy.contract import ConfigHash
from stanchion.store import keys
from stanchion.store.config_reader import text
from stanchion.store.script import Script

_WRITE = Script("config_write")
_DELETE = Script("config_delete")


@dataclass(frozen=True, slots=True)
class WriteResult:
    """`outcome`: created, updated, repaired, unchanged, adopted, stale or conflict.

    `owner` is who owned the hash before, `namespace/name` or "".
    """

    outcome: str
    owner: str

    @property
    def in_redis(self) -> bool:
        """Redis now holds what was asked for."""
        return self.outcome not in ("stale", "conflict")


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """`outcome`: deleted, absent, conflict or stale; owner and deletionPolicy as the hash recorded them."""

    outcome: str
    owner: str
    deletion_policy: str


async def write(
    client: redis.asyncio.Redis,
    config: ConfigHash,
    *,
    fence: int | None = None,
    take_over: bool = False,
    dry_run: bool = False,
) -> WriteResult:
    """Make Redis hold `config`, unless it is another owner's or newer. `dry_run` only answers.

    `fence` is the writer's leaseTransitions: once a higher one has written, a lower one is stale. It is
    remembered per `managedBy` and must never fall, not even when the Lease object is made anew.
    """
    pairs = [part for pair in config.fields.items() for part in pair]
    nonce = secrets.token_hex(4)
    flags = ["1" if take_over else "0", "1" if dry_run else "0"]
    reply = await _WRITE.arun(
        client,
        _keys(config.kind, config.name),
        [config.entry, config.stamp, keys.CONFIG_CHANNEL, nonce, _fence(fence), *flags, *pairs],
    )
    return WriteResult(*(part.decode() for part in reply))


async def delete(
    client: redis.asyncio.Redis,
    kind: str,
    name: str,
    owner_uid: str,
    managed_by: str,
    *,
    fence: int | None = None,
    dry_run: bool = False,
) -> DeleteResult:
    """Remove a hash of this owner and writer. An empty `owner_uid` fits every owner of this writer."""
    nonce = secrets.token_hex(4)
    arguments = [
        f"{kind}/{name}",
        keys.CONFIG_CHANNEL,
        nonce,
        _fence(fence),
        managed_by,
        owner_uid,
        "1" if dry_run else "0",
    ]
    reply = await _DELETE.arun(client, _keys(kind, name), arguments)
    return DeleteResult(*(part.decode() for part in reply))


async def sweep(
    client: redis.asyncio.Redis,
    managed_by: str,
    keep: Set[str],
    *,
    fence: int | None = None,
    dry_run: bool = False,
) -> Mapping[str, DeleteResult]:
    """Remove every hash of this writer whose index entry (`kind/name`) is not in `keep`.

    Returns what was removed. Each removal is conditional on its own, so a hash that another writer
    took over in the meantime stays.
    """
    removed = {}
    for entry in sorted(set(await list_index(client)) - keep):
        kind, _, name = entry.partition("/")
        result = await delete(client, kind, name, "", managed_by, fence=fence, dry_run=dry_run)
        if result.outcome == "deleted":
            removed[entry] = result
    return removed


async def read(client: redis.asyncio.Redis, kind: str, name: str) -> dict[str, str]:
    """The fields of one hash; empty if there is none."""
    return text(await client.hgetall(keys.config(kind, name)))


async def list_index(client: redis.asyncio.Redis) -> dict[str, str]:
    """Index entry (`kind/name`) -> stamp (`digest:ownerUid`)."""
    return text(await client.hgetall(keys.CONFIG_INDEX))


async def epoch(client: redis.asyncio.Redis) -> str:
    """The epoch of the config, "" if none was ever written."""
    value: Any = await client.get(keys.CONFIG_EPOCH)
    return "" if value is None else str(value, "utf-8")


def _keys(kind: str, name: str) -> list[str]:
    return [keys.config(kind, name), keys.CONFIG_INDEX, keys.CONFIG_EPOCH, keys.CONFIG_FENCE]


def _fence(fence: int | None) -> str:
    return "" if fence is None else str(fence)
