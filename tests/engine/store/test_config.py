"""Config hashes in a real Redis: who may write what, and what a reader gets to see."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest
import redis.asyncio

from stanchion.dev.redis_server import RedisServer
from stanchion.policy.contract import ConfigHash, encode
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.store import config, connection, keys

pytestmark = pytest.mark.redis

QUEUE = QueueConfig(owner=Owner("shop", "imports", "u-1", generation=2), queue="imports")


def hash_of(
    managed_by: str = "install-1", *, owner: dict[str, Any] | None = None, **changes: Any
) -> ConfigHash:
    """The hash of QUEUE with some settings and owner fields changed."""
    changed = dataclasses.replace(QUEUE, owner=dataclasses.replace(QUEUE.owner, **(owner or {})), **changes)
    return encode(changed, managed_by)


@pytest.fixture
async def written(aredis: redis.asyncio.Redis) -> str:
    """QUEUE stands in Redis; its epoch."""
    assert (await config.write(aredis, hash_of())).outcome == "created"
    return await config.epoch(aredis)


def counter(epoch: str) -> int:
    return int(epoch.partition("-")[0])


async def test_the_first_write_creates_hash_index_and_epoch(aredis: redis.asyncio.Redis) -> None:
    wanted = hash_of()
    assert await config.write(aredis, wanted) == config.WriteResult("created", "")
    assert await config.read(aredis, "queue", "imports") == wanted.fields
    assert await config.list_index(aredis) == {"queue/imports": wanted.stamp}
    assert counter(await config.epoch(aredis)) == 1


@pytest.mark.parametrize(
    ("wanted", "take_over", "outcome"),
    [
        (hash_of(), False, "unchanged"),
        (hash_of(owner={"generation": 3}), False, "unchanged"),
        (hash_of(paused=True, owner={"generation": 3}), False, "updated"),
        (hash_of(paused=True), False, "updated"),
        (hash_of(deletion_policy="Delete", owner={"generation": 3}), False, "updated"),
        (hash_of(paused=True, owner={"generation": 1}), False, "stale"),
        (hash_of(owner={"generation": 1}), True, "stale"),
        (hash_of(owner={"uid": "u-2", "generation": 1}), False, "adopted"),
        (hash_of("install-2"), False, "adopted"),
        (hash_of(owner={"name": "other", "uid": "u-2", "generation": 9}), False, "conflict"),
        (hash_of(owner={"name": "other", "uid": "u-2"}), True, "adopted"),
        (hash_of("install-2", owner={"uid": "u-2", "generation": 9}), False, "conflict"),
        (hash_of("install-2", owner={"uid": "u-2"}), True, "adopted"),
    ],
)
async def test_a_second_write(
    aredis: redis.asyncio.Redis, written: str, wanted: ConfigHash, take_over: bool, outcome: str
) -> None:
    before = await config.read(aredis, "queue", "imports")
    forecast = await config.write(aredis, wanted, take_over=take_over, dry_run=True)
    assert await config.read(aredis, "queue", "imports") == before, "a dry run only answers"

    result = await config.write(aredis, wanted, take_over=take_over)

    assert result == forecast == config.WriteResult(outcome, "shop/imports")
    assert result.in_redis == (outcome not in ("stale", "conflict"))
    assert await config.read(aredis, "queue", "imports") == (wanted.fields if result.in_redis else before)
    changed = outcome in ("updated", "adopted")
    assert counter(await config.epoch(aredis)) == (2 if changed else 1)
    if changed:
        assert await config.list_index(aredis) == {"queue/imports": wanted.stamp}


DAMAGE: dict[str, list[tuple[str, ...]]] = {
    "a field changed": [("HSET", "HASH", "paused", "true")],
    "a field removed": [("HDEL", "HASH", "paused")],
    "a field added": [("HSET", "HASH", "extra", "1")],
    "the digest changed": [("HSET", "HASH", "digest", "00")],
    "the generation broken": [("HSET", "HASH", "generation", "x")],
    "the owner removed": [("HDEL", "HASH", "owner", "ownerUid", "managedBy")],
    "the uid removed": [("HDEL", "HASH", "ownerUid")],
    "the writer removed": [("HDEL", "HASH", "managedBy")],
    "the hash deleted": [("DEL", "HASH")],
    "another type": [("DEL", "HASH"), ("SET", "HASH", "1")],
    "the index entry changed": [("HSET", keys.CONFIG_INDEX, "queue/imports", "00:u-1")],
    "the index entry deleted": [("HDEL", keys.CONFIG_INDEX, "queue/imports")],
    "the index deleted": [("DEL", keys.CONFIG_INDEX)],
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_what_a_hand_changed_is_repaired(
    aredis: redis.asyncio.Redis, written: str, damage: str
) -> None:
    for command in DAMAGE[damage]:
        await run(aredis, *command)
    assert (await config.write(aredis, hash_of())).outcome == "repaired"
    assert await config.read(aredis, "queue", "imports") == hash_of().fields
    assert await config.list_index(aredis) == {"queue/imports": hash_of().stamp}
    assert counter(await config.epoch(aredis)) == 2
    assert (await config.write(aredis, hash_of())).outcome == "unchanged"


async def test_a_flushed_redis_gets_an_epoch_that_was_never_seen(
    aredis: redis.asyncio.Redis, written: str
) -> None:
    await aredis.flushall()
    assert (await config.write(aredis, hash_of())).outcome == "created"
    again = await config.epoch(aredis)
    assert counter(again) == counter(written) == 1
    assert again != written


async def test_every_change_is_published_with_its_epoch_and_nothing_else_is(
    aredis: redis.asyncio.Redis,
) -> None:
    async with aredis.pubsub() as listener:
        await listener.subscribe(keys.CONFIG_CHANNEL)
        await listener.get_message(timeout=5)
        await config.write(aredis, hash_of())
        await config.write(aredis, hash_of())
        await config.write(aredis, hash_of(owner={"name": "x", "uid": "x"}))
        await config.delete(aredis, "queue", "imports", "u-1", "install-1")
        heard = [await listener.get_message(timeout=5) for _ in range(2)]
        assert [counter(message["data"].decode()) for message in heard if message] == [1, 2]
        assert await listener.get_message(timeout=0.05) is None


async def test_two_racing_writers_leave_the_newer_generation(redis_url: str) -> None:
    async def keep_writing(managed: ConfigHash, times: int) -> set[str]:
        async with connection.connect_async(redis_url) as client:
            return {(await config.write(client, managed)).outcome for _ in range(times)}

    older = hash_of(paused=True, owner={"generation": 5})
    newer = hash_of(paused=False, owner={"generation": 6})
    slow, fast = await asyncio.gather(keep_writing(older, 100), keep_writing(newer, 100))
    assert slow <= {"created", "unchanged", "stale"}
    assert fast <= {"created", "updated", "unchanged"}
    async with connection.connect_async(redis_url) as client:
        assert (await config.read(client, "queue", "imports"))["generation"] == "6"
        assert counter(await config.epoch(client)) <= 2


async def test_two_installations_never_both_own_a_hash(redis_url: str) -> None:
    async def claim(install: str) -> str:
        async with connection.connect_async(redis_url) as client:
            return (await config.write(client, hash_of(install, owner={"uid": install}))).outcome

    outcomes = await asyncio.gather(*(claim(f"install-{number}") for number in range(8)))
    assert sorted(outcomes) == ["conflict"] * 7 + ["created"]


async def test_the_epoch_only_grows(redis_url: str) -> None:
    async def change(queue: str) -> list[int]:
        seen = []
        async with connection.connect_async(redis_url) as client:
            for generation in range(1, 20):
                owner = {"name": queue, "uid": queue, "generation": generation}
                await config.write(client, hash_of(queue=queue, paused=generation % 2 == 0, owner=owner))
                seen.append(counter(await config.epoch(client)))
        return seen

    for seen in await asyncio.gather(*(change(f"q{number}") for number in range(4))):
        assert seen == sorted(set(seen))


async def test_a_deposed_leader_is_stale_everywhere(aredis: redis.asyncio.Redis, written: str) -> None:
    mail = hash_of(queue="mail", owner={"name": "mail", "uid": "u-5"})
    assert (await config.write(aredis, hash_of(), fence=7)).outcome == "unchanged"
    assert (await config.write(aredis, mail, fence=6)).outcome == "stale"
    assert (await config.delete(aredis, "queue", "imports", "u-1", "install-1", fence=6)).outcome == "stale"
    assert (await config.write(aredis, mail, fence=7)).outcome == "created"
    other = hash_of("install-2", queue="other", owner={"name": "other", "uid": "u-6"})
    assert (await config.write(aredis, other, fence=1)).outcome == "created", "another installation's Lease"


async def test_only_the_owner_deletes(aredis: redis.asyncio.Redis, written: str) -> None:
    for uid, install in (("u-2", "install-1"), ("u-1", "install-2")):
        assert (await config.delete(aredis, "queue", "imports", uid, install)).outcome == "conflict"
    dry = await config.delete(aredis, "queue", "imports", "u-1", "install-1", dry_run=True)
    assert await config.read(aredis, "queue", "imports")
    result = await config.delete(aredis, "queue", "imports", "u-1", "install-1")
    assert result == dry == config.DeleteResult("deleted", "shop/imports", "Retain")
    assert await config.read(aredis, "queue", "imports") == {}
    assert await config.list_index(aredis) == {}
    assert counter(await config.epoch(aredis)) == 2
    assert (await config.delete(aredis, "queue", "imports", "u-1", "install-1")).outcome == "absent"
    assert counter(await config.epoch(aredis)) == 2


async def test_an_entry_whose_hash_is_lost_can_be_deleted_by_its_owner(
    aredis: redis.asyncio.Redis, written: str
) -> None:
    await aredis.delete(keys.config("queue", "imports"))
    assert (await config.delete(aredis, "queue", "imports", "u-2", "install-1")).outcome == "conflict"
    assert (await config.delete(aredis, "queue", "imports", "u-1", "install-1")).outcome == "deleted"
    assert await config.list_index(aredis) == {}


async def test_a_sweep_removes_its_own_orphans_only(aredis: redis.asyncio.Redis, written: str) -> None:
    orphan = hash_of(queue="gone", deletion_policy="Delete", owner={"name": "gone", "uid": "u-4"})
    foreign = hash_of("install-2", queue="theirs", owner={"name": "theirs", "uid": "u-3"})
    await config.write(aredis, orphan)
    await config.write(aredis, foreign)
    await aredis.hset(keys.CONFIG_INDEX, "robot/x", "00:u")

    swept = await config.sweep(aredis, "install-1", {"queue/imports"})

    assert swept == {"queue/gone": config.DeleteResult("deleted", "shop/gone", "Delete")}
    assert set(await config.list_index(aredis)) == {"queue/imports", "queue/theirs", "robot/x"}
    assert await config.sweep(aredis, "install-1", {"queue/imports"}) == {}


async def test_a_full_redis_still_takes_config(
    redis_server: RedisServer, aredis: redis.asyncio.Redis
) -> None:
    """Else a pause could not be declared in the very hour it is needed."""
    await aredis.config_set("maxmemory", "1")
    try:
        assert (await config.write(aredis, hash_of(), fence=1)).outcome == "created"
        assert (await config.write(aredis, hash_of(owner={"generation": 4}), fence=2)).outcome == "unchanged"
        changed = hash_of(paused=True, owner={"generation": 5})
        assert (await config.write(aredis, changed)).outcome == "updated"
        assert (await config.delete(aredis, "queue", "imports", "u-1", "install-1")).outcome == "deleted"
    finally:
        await aredis.config_set("maxmemory", "0")


async def run(client: redis.asyncio.Redis, command: str, key: str, *arguments: str) -> None:
    """One command; HASH stands for the hash of QUEUE."""
    name = keys.config("queue", "imports") if key == "HASH" else key
    await client.execute_command(command, name, *arguments)  # type: ignore[no-untyped-call]
