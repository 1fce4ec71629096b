"""Queues worked off in the test's own process, against a real Redis."""

from __future__ import annotations

from typing import Any

import pytest
import redis
import redis.asyncio

import stanchion
from engine.worker.running import payloads
from stanchion import testing
from stanchion.app import App
from stanchion.errors import LeaseLost
from stanchion.policy.contract import encode
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.store import config, keys, queues

pytestmark = pytest.mark.redis

done: list[str] = []


def app_at(redis_url: str) -> App:
    app = App(redis_url)

    @app.job(queue="mail")
    def welcome(user: int) -> None:
        done.append(f"welcome {user}")
        app.enqueue("follow_up", [user])

    @app.job(queue="slow")
    async def follow_up(user: int) -> None:
        done.append(f"follow up {user}")

    @app.job(queue="mail", retries=1)
    def fails() -> None:
        raise ValueError("boom")

    @app.job(queue="mail")
    def gone() -> None:
        raise stanchion.Kill("no hope")

    done.clear()
    return app


def test_runs_what_is_ready_and_what_that_enqueues_and_leaves_no_trace(
    redis_url: str, redis_client: redis.Redis
) -> None:
    app = app_at(redis_url)
    for user in range(12):
        app.enqueue("welcome", [user])
    app.enqueue("fails")
    app.enqueue("gone")
    app.enqueue("welcome", [99], delay=3600)
    assert testing.run_until_idle(app) == 26
    assert sorted(done) == sorted(
        [f"welcome {user}" for user in range(12)] + [f"follow up {user}" for user in range(12)]
    )
    [retry] = payloads(redis_client, keys.RETRY)
    assert (retry["class"], retry["error_message"], retry["retry_count"]) == ("fails", "boom", 0)
    assert redis_client.zcard(keys.DEAD) == redis_client.zcard(keys.SCHEDULE) == 1
    assert redis_client.get(keys.STAT_PROCESSED) == b"26"
    assert not redis_client.exists(keys.BEATS, keys.PROCESSES, keys.consumers("mail"))
    app.close()


async def test_it_says_so_when_a_worker_took_it_for_dead(redis_url: str, redis_client: redis.Redis) -> None:
    app = app_at(redis_url)

    @app.job(queue="mail")
    def is_given_up() -> None:
        consumers: Any = redis_client.smembers(keys.consumers("mail"))
        [incarnation] = consumers
        redis_client.set(keys.trip(incarnation.decode()), "dead")

    await app.aenqueue("is_given_up")
    with pytest.raises(LeaseLost, match="took the test for a dead process"):
        await testing.arun_until_idle(app)
    assert redis_client.llen(keys.queue("mail")) == 1
    await app.aclose()


async def test_in_async_code_and_for_the_queues_that_are_named(redis_url: str) -> None:
    app = app_at(redis_url)
    await app.aenqueue("welcome", [1])
    assert await testing.arun_until_idle(app, "slow") == 0
    assert await testing.arun_until_idle(app, "mail") == 1
    assert done == ["welcome 1"]
    await app.aclose()


async def test_leaves_what_is_paused_by_hand_or_by_policy(
    redis_url: str, redis_client: redis.Redis, aredis: redis.asyncio.Redis
) -> None:
    app = app_at(redis_url)
    await app.aenqueue("welcome", [1])
    await app.aenqueue("follow_up", [2])
    queues.pause(redis_client, ["mail"])
    await config.write(aredis, encode(QueueConfig(Owner("shop", "slow"), "slow", paused=True), "test"))
    assert await testing.arun_until_idle(app) == 0
    queues.unpause(redis_client, ["mail"])
    assert await testing.arun_until_idle(app) == 1
    await app.aclose()
