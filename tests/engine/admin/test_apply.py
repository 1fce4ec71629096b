"""Policies applied without Kubernetes: counted generations, kept age, and nobody else's hashes touched."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest
import redis.asyncio

from stanchion.admin.apply import Outcome, apply
from stanchion.errors import CommandError
from stanchion.policy.contract import encode
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.match import Match
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueuePolicy
from stanchion.store import config, connection, keys

pytestmark = pytest.mark.redis

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
LATER = datetime(2026, 2, 1, tzinfo=UTC)


def queue(name: str = "imports", **changes: Any) -> QueuePolicy:
    policy = QueuePolicy(owner=Owner("shop", f"{name}-policy"), queue=name)
    return dataclasses.replace(policy, **changes)


def outcomes(outcome: Outcome) -> list[str]:
    return [each.result.outcome for each in outcome.applied]


async def meta(client: redis.asyncio.Redis, *fields: str) -> tuple[str, ...]:
    stored = await config.read(client, "queue", "imports")
    return tuple(stored[field] for field in fields)


async def test_the_generation_counts_changes_and_the_age_stays(aredis: redis.asyncio.Redis) -> None:
    assert outcomes(await apply(aredis, [queue()], now=FIRST)) == ["created"]
    assert outcomes(await apply(aredis, [queue()], now=LATER)) == ["unchanged"]
    assert await meta(aredis, "generation", "createdAt") == ("1", "2026-01-01T00:00:00Z")
    assert outcomes(await apply(aredis, [queue(paused=True)], now=LATER)) == ["updated"]
    assert outcomes(await apply(aredis, [queue(paused=True, deletion_policy="Delete")], now=LATER)) == [
        "updated"
    ]
    assert await meta(aredis, "generation", "createdAt", "managedBy", "ownerUid") == (
        "3",
        "2026-01-01T00:00:00Z",
        "cli",
        "cli:shop/imports-policy",
    )


async def test_what_a_hand_changed_is_repaired(aredis: redis.asyncio.Redis) -> None:
    await apply(aredis, [queue()], now=FIRST)
    await aredis.hset(keys.config("queue", "imports"), mapping={"paused": "true", "generation": "?"})
    assert outcomes(await apply(aredis, [queue()], now=LATER)) == ["repaired"]


async def test_the_operators_hash_is_left_alone_until_taken_over(aredis: redis.asyncio.Redis) -> None:
    owner = Owner("shop", "imports-policy", "uid-of-the-object", 7)
    await config.write(aredis, encode(queue(owner=owner), "install-1"))
    refused = await apply(aredis, [queue(paused=True)], now=FIRST)
    assert outcomes(refused) == ["conflict"]
    assert refused.applied[0].result.owner == "shop/imports-policy"
    assert not refused.is_complete
    taken = await apply(aredis, [queue(paused=True)], now=FIRST, take_over=True)
    assert outcomes(taken) == ["adopted"]
    assert await meta(aredis, "generation", "managedBy") == ("1", "cli")


async def test_two_policies_for_one_queue_write_nothing(aredis: redis.asyncio.Redis) -> None:
    second = queue(owner=Owner("other", "imports"))
    with pytest.raises(CommandError, match="other/imports and shop/imports-policy both claim queue imports"):
        await apply(aredis, [queue("mail"), queue(), second], now=FIRST)
    assert await config.list_index(aredis) == {}


async def test_a_dry_run_writes_nothing(aredis: redis.asyncio.Redis) -> None:
    await apply(aredis, [queue("old")], now=FIRST)
    outcome = await apply(aredis, [queue()], now=FIRST, dry_run=True, prune=True)
    assert outcomes(outcome) == ["created"]
    assert list(outcome.pruned) == ["queue/old"]
    assert list(await config.list_index(aredis)) == ["queue/old"]


async def test_prune_removes_only_what_apply_wrote(aredis: redis.asyncio.Redis) -> None:
    operators = queue("theirs", owner=Owner("shop", "theirs", "u"))
    await config.write(aredis, encode(operators, "install-1"))
    await apply(aredis, [queue("old"), queue()], now=FIRST)
    outcome = await apply(aredis, [queue()], now=FIRST, prune=True)
    assert list(outcome.pruned) == ["queue/old"]
    assert set(await config.list_index(aredis)) == {"queue/imports", "queue/theirs"}


async def test_a_lock_names_the_queues_it_acts_on(aredis: redis.asyncio.Redis) -> None:
    lock = LockPolicy(Owner("shop", "once"), Match(("i*",)), "UntilExecuted")
    stray = LockPolicy(Owner("other", "once"), Match(), "UntilExecuted")
    alone = await apply(aredis, [lock], now=FIRST)
    assert alone.applied[0].acts_on == ()
    await apply(aredis, [queue(), queue("mail")], now=FIRST)
    together = await apply(aredis, [lock, stray], now=FIRST)
    assert [each.acts_on for each in together.applied] == [("imports",), ()], "declared by an earlier run"


async def test_two_runs_at_once_both_end_and_one_state_stands(redis_url: str) -> None:
    async def run(paused: bool) -> list[str]:
        async with connection.connect_async(redis_url) as client:
            found = []
            for turn in range(20):
                policy = queue(paused=paused, latency_target_seconds=turn + 1)
                found += outcomes(await apply(client, [policy], now=FIRST))
            return found

    results = await asyncio.gather(run(True), run(False))
    assert {outcome for found in results for outcome in found} <= {"created", "updated", "unchanged"}
