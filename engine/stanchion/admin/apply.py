"""Writes policies to one Redis without Kubernetes. Called by `stanchion apply`.

The installation is named `cli`; generations are counters, since no API server counts them, and a policy is
as old as its first write.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import redis.asyncio

from stanchion.errors import CommandError
from stanchion.gate.config import ConfigCache
from stanchion.policy.contract import Config, ConfigHash, encode
from stanchion.policy.overlap import overruled
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig, QueuePolicy
from stanchion.policy.scope import queues_of
from stanchion.store import config
from stanchion.store.config import DeleteResult, WriteResult

MANAGED_BY = "cli"
ATTEMPTS = 5
"""Tries against another `apply` that counts generations at the same time."""

C = TypeVar("C", bound=Config)


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of one policy. `acts_on`: the declared queues a lock policy or budget governs."""

    policy: Config
    entry: str
    result: WriteResult
    acts_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The whole run: one entry a policy, in order, and what was pruned."""

    applied: tuple[Applied, ...]
    pruned: Mapping[str, DeleteResult]

    @property
    def is_complete(self) -> bool:
        """Redis holds everything that was asked for."""
        return all(each.result.in_redis for each in self.applied)


async def apply(
    client: redis.asyncio.Redis,
    policies: Sequence[Config],
    *,
    now: datetime,
    managed_by: str = MANAGED_BY,
    take_over: bool = False,
    prune: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """Make Redis hold the policies; `prune` removes what this installation wrote and they no longer name.

    Raises CommandError, before anything is written, if two policies claim one queue.
    """
    _refuse_overlaps(policies)
    await client.ping()  # a Redis that is away ends it here, in one error
    queues = await _declared_queues(client, policies)
    applied = []
    for policy in policies:
        written, result = await _write(client, policy, now, managed_by, take_over=take_over, dry_run=dry_run)
        applied.append(Applied(policy, written.entry, result, _acts_on(policy, queues)))
    pruned: Mapping[str, DeleteResult] = {}
    if prune:
        keep = {each.entry for each in applied}
        pruned = await config.sweep(client, managed_by, keep, dry_run=dry_run)
    return Outcome(tuple(applied), pruned)


def _refuse_overlaps(policies: Iterable[Config]) -> None:
    queue_policies = [policy for policy in policies if isinstance(policy, QueuePolicy)]
    for loser, owner in overruled(queue_policies, place=lambda policy: policy.queue).items():
        raise CommandError(
            f"QueuePolicies {owner.owner.key} and {loser} both claim queue {owner.queue}: remove one, "
            "or give one another queueName"
        )


async def _write(
    client: redis.asyncio.Redis,
    policy: Config,
    now: datetime,
    managed_by: str,
    *,
    take_over: bool,
    dry_run: bool,
) -> tuple[ConfigHash, WriteResult]:
    for _ in range(ATTEMPTS):
        first = encode(policy, managed_by)
        stored = await config.read(client, first.kind, first.name)
        wanted = encode(_counted(policy, first, stored, now), managed_by)
        result = await config.write(client, wanted, take_over=take_over, dry_run=dry_run)
        if result.outcome != "stale":
            break
    return wanted, result


def _counted(policy: C, first: ConfigHash, stored: Mapping[str, str], now: datetime) -> C:
    """The policy under our own count: the stored generation, plus one if the spec differs from it."""
    owner = Owner(policy.owner.namespace, policy.owner.name, created_at=f"{now:%Y-%m-%dT%H:%M:%SZ}")
    is_ours = all(stored.get(field) == first.fields[field] for field in ("owner", "managedBy"))
    if is_ours:
        is_changed = any(stored.get(field) != first.fields[field] for field in ("digest", "deletionPolicy"))
        generation = stored.get("generation", "")
        count = int(generation) if generation.isascii() and generation.isdigit() else 0
        owner = dataclasses.replace(
            owner,
            generation=max(1, count + is_changed),
            created_at=stored.get("createdAt") or owner.created_at,
        )
    return dataclasses.replace(policy, owner=owner)


async def _declared_queues(client: redis.asyncio.Redis, policies: Iterable[Config]) -> list[QueueConfig]:
    """The queues of these policies and those declared in Redis before."""
    found = (await ConfigCache().arefresh(client)).queues
    stated = {policy.queue: policy for policy in policies if isinstance(policy, QueueConfig)}
    return list({**found, **stated}.values())


def _acts_on(policy: Config, queues: Iterable[QueueConfig]) -> tuple[str, ...]:
    if isinstance(policy, QueueConfig):
        return (policy.queue,)
    return tuple(queue.queue for queue in queues_of(policy, queues))
