"""A declared change reaches the next call of every client, and nothing that happens to Redis undoes it."""

from __future__ import annotations

import json

import pytest
import redis
import redis.asyncio

from stanchion import App
from stanchion.policy.contract import encode
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.store import config, keys

pytestmark = pytest.mark.redis


async def declare(client: redis.asyncio.Redis, max_retries: int, generation: int) -> None:
    owner = Owner("shop", "imports", "u", generation)
    policy = QueueConfig(owner=owner, queue="imports", max_retries=max_retries)
    assert (await config.write(client, encode(policy, "install"))).in_redis


async def pushed_retries(app: App, client: redis.asyncio.Redis) -> object:
    """The retries of a job enqueued now."""
    assert (await app.aenqueue("catalog.load", [7], queue="imports")).accepted
    newest = await client.lindex(keys.queue("imports"), 0)
    assert newest is not None
    return json.loads(newest)["retry"]


@pytest.fixture
async def app(redis_url: str) -> App:
    return App(redis_url)


async def test_a_change_is_obeyed_by_the_very_next_call(app: App, aredis: redis.asyncio.Redis) -> None:
    assert await pushed_retries(app, aredis) is True, "nothing is declared"
    await declare(aredis, 3, generation=1)
    assert await pushed_retries(app, aredis) == 3
    await declare(aredis, 4, generation=2)
    assert await pushed_retries(app, aredis) == 4
    await config.delete(aredis, "queue", "imports", "u", "install")
    assert await pushed_retries(app, aredis) is True
    await app.aclose()


async def test_without_a_change_a_call_is_one_round_trip(
    app: App, aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    await declare(aredis, 3, generation=1)
    await pushed_retries(app, aredis)
    before = redis_client.info("commandstats")["cmdstat_evalsha"]["calls"]
    await pushed_retries(app, aredis)
    assert redis_client.info("commandstats")["cmdstat_evalsha"]["calls"] == before + 1
    await app.aclose()


@pytest.mark.parametrize("loss", ["flush", "hash", "damage"])
async def test_what_redis_loses_stays_in_force(app: App, aredis: redis.asyncio.Redis, loss: str) -> None:
    await declare(aredis, 3, generation=1)
    assert await pushed_retries(app, aredis) == 3
    if loss == "flush":
        await aredis.flushall()
    elif loss == "hash":
        await aredis.delete(keys.config("queue", "imports"))
    else:
        await aredis.hset(keys.config("queue", "imports"), "retry.maxRetries", "x")
    assert await pushed_retries(app, aredis) == 3
    await declare(aredis, 3, generation=1)  # the resync
    assert await pushed_retries(app, aredis) == 3
    await declare(aredis, 5, generation=2)
    assert await pushed_retries(app, aredis) == 5
    await app.aclose()
