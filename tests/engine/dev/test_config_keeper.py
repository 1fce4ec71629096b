"""The declared config stays in Redis, whatever Redis forgets and whoever changes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import redis.asyncio

from stanchion.dev.config_keeper import ConfigKeeper
from stanchion.policy.contract import encode
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueuePolicy
from stanchion.store import config, keys
from waiting import auntil

pytestmark = pytest.mark.redis

MAIL = QueuePolicy(owner=Owner("default", "mail"), queue="mail")


class Ear:
    """Hears what the keeper says."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __call__(self, entry: str, text: str) -> None:
        self.heard.append(f"{entry} {text}")


@asynccontextmanager
async def kept(keeper: ConfigKeeper) -> AsyncIterator[None]:
    task = asyncio.create_task(keeper.keep(every_seconds=0.02))
    try:
        yield
    finally:
        task.cancel()


@pytest.mark.parametrize("damage", ["flushed", "by hand"])
async def test_what_was_lost_or_changed_comes_back_and_is_told(
    aredis: redis.asyncio.Redis, damage: str
) -> None:
    told, alarmed = Ear(), Ear()
    keeper = ConfigKeeper(aredis, told, alarmed)
    await keeper.write([MAIL])
    before = await config.read(aredis, "queue", "mail")
    if damage == "flushed":
        await aredis.flushall()
    else:
        await aredis.hset(keys.config("queue", "mail"), "paused", "true")
    async with kept(keeper):
        await auntil(lambda: bool(told.heard))
    after = await config.read(aredis, "queue", "mail")
    assert (after["digest"], after["paused"]) == (before["digest"], "false")
    assert told.heard == ["queue/mail was lost or changed by another hand; it is back"]
    assert alarmed.heard == []


async def test_a_foreign_owner_is_told_once(aredis: redis.asyncio.Redis) -> None:
    theirs = QueuePolicy(owner=Owner("shop", "mail", "uid"), queue="mail")
    await config.write(aredis, encode(theirs, "operator"))
    told, alarmed = Ear(), Ear()
    keeper = ConfigKeeper(aredis, told, alarmed)
    await keeper.write([MAIL])
    await keeper.write([MAIL])
    assert (told.heard, alarmed.heard) == (
        [],
        ["queue/mail was not written (conflict: shop/mail owns it)"],
    )
