"""Calls through a network and to a Redis that fail: every accepted job is in once, every error in time."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis
import redis.asyncio

from engine.ready import enqueued, jids
from engine.tcp_proxy import TcpProxy
from stanchion.app import App
from stanchion.client import MAX_IN_FLIGHT
from stanchion.dev.redis_server import RedisServer
from stanchion.errors import RedisUnavailable
from stanchion.settings import Settings
from stanchion.store import connection, keys

TIMEOUT_SECONDS = 1.0
LATEST_SECONDS = 3 * TIMEOUT_SECONDS
"""When a call with that time-out must have ended, on a machine that is busy with other tests."""


@pytest.fixture
def app(proxy: TcpProxy) -> App:
    """An App whose Redis is empty and behind the proxy; patient enough for a busy machine."""
    return App(settings=Settings(redis_url=proxy.url, client_timeout_seconds=4 * TIMEOUT_SECONDS))


def hasty(url: str) -> App:
    """An App that gives up after TIMEOUT_SECONDS."""
    return App(settings=Settings(redis_url=url, client_timeout_seconds=TIMEOUT_SECONDS))


@pytest.mark.redis
def test_a_lost_reply_is_asked_for_again_and_the_job_is_in_once(
    app: App, proxy: TcpProxy, redis_client: redis.Redis
) -> None:
    proxy.lose_replies(b"DONE", 2)
    verdict = app.enqueue("a")
    assert (verdict.status, verdict.reason) == ("enqueued", None)
    assert proxy.lost_replies == 2
    assert jids(redis_client) == [verdict.jid]
    assert enqueued(redis_client) == 1


@pytest.mark.redis
def test_a_reply_that_never_comes_is_asked_for_again_in_time(
    app: App, proxy: TcpProxy, redis_client: redis.Redis
) -> None:
    proxy.lose_replies(b"DONE", fault="swallow")
    verdict = app.enqueue("a")
    assert jids(redis_client) == [verdict.jid]
    assert enqueued(redis_client) == 1


@pytest.mark.redis
async def test_lost_replies_are_survived_in_asyncio_too(
    app: App, proxy: TcpProxy, redis_client: redis.Redis
) -> None:
    proxy.lose_replies(b"DONE", 10)
    verdicts = await asyncio.gather(*(app.aenqueue("a", [n]) for n in range(100)))
    proxy.lose_replies(b"DONE", fault="swallow")
    verdicts.append(await app.aenqueue("a", [100]))
    assert proxy.lost_replies == 11
    assert Counter(jids(redis_client)) == Counter(verdict.jid for verdict in verdicts)
    assert enqueued(redis_client) == 101
    await app.aclose()


@pytest.mark.redis
def test_threads_share_an_app_and_lose_and_double_nothing(
    app: App, proxy: TcpProxy, redis_client: redis.Redis
) -> None:
    proxy.lose_replies(b"DONE", 10)
    with ThreadPoolExecutor(2 * MAX_IN_FLIGHT) as pool:
        verdicts = list(pool.map(lambda n: app.enqueue("a", [n]), range(200)))
    assert proxy.lost_replies == 10
    assert Counter(jids(redis_client)) == Counter(verdict.jid for verdict in verdicts)


@pytest.mark.redis
def test_a_bulk_call_is_cut_in_chunks_and_each_is_recorded_once(
    app: App, proxy: TcpProxy, redis_client: redis.Redis
) -> None:
    proxy.lose_replies(b"DONE", 2)
    verdicts = app.enqueue_many(app.call("a", [n]) for n in range(450))
    assert proxy.lost_replies == 2
    assert len(verdicts) == 450
    assert jids(redis_client) == [verdict.jid for verdict in verdicts]
    assert enqueued(redis_client) == 450


@pytest.mark.redis
async def test_a_cancelled_call_leaves_the_app_usable(
    app: App, proxy: TcpProxy, redis_client: redis.Redis
) -> None:
    await app.aenqueue("a", jid="first")
    proxy.lose_replies(b"DONE", fault="swallow")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await app.aenqueue("a", jid="cancelled")
    await app.aenqueue("a", jid="last")
    assert jids(redis_client) == ["first", "cancelled", "last"]
    await app.aclose()


@pytest.mark.redis
def test_a_configuration_that_cannot_be_read_ends_in_a_clear_error(
    redis_url: str, redis_client: redis.Redis
) -> None:
    redis_client.set(keys.CONFIG_EPOCH, "1-x")
    redis_client.set(keys.CONFIG_INDEX, "no hash")
    with pytest.raises(
        RedisUnavailable, match="configuration that could not be read in time; nothing was enq"
    ):
        hasty(redis_url).enqueue("a")
    assert jids(redis_client) == []


@pytest.mark.redis
def test_a_redis_that_has_forgotten_the_script_is_taught_again(app: App, redis_client: redis.Redis) -> None:
    app.enqueue("a")
    redis_client.script_flush()
    app.enqueue("a")
    assert len(jids(redis_client)) == 2


@pytest.mark.redis
async def test_a_fail_over_behind_the_same_address_is_followed(
    app: App, proxy: TcpProxy, redis_client: redis.Redis, closed_url: str, tmp_path: Path
) -> None:
    await asyncio.to_thread(app.enqueue, "a", jid="before")
    await app.aenqueue("a", jid="before-too")
    nobody = urlsplit(closed_url)
    with RedisServer(tmp_path) as successor, connection.connect(successor.url) as successor_client:
        proxy.redirect(successor.port)
        redis_client.replicaof(str(nobody.hostname), nobody.port or 0)
        try:
            await asyncio.to_thread(app.enqueue, "a", jid="after")
            await app.aenqueue("a", jid="after-too")
        finally:
            redis_client.replicaof("NO", "ONE")
        assert jids(successor_client) == ["after", "after-too"]
    await app.aclose()


@pytest.mark.redis
def test_a_full_redis_is_named_as_such(app: App, redis_client: redis.Redis) -> None:
    redis_client.config_set("maxmemory", 1)
    try:
        with pytest.raises(RedisUnavailable, match="is full and refuses new jobs; raise maxmemory"):
            app.enqueue("a")
    finally:
        redis_client.config_set("maxmemory", 0)


def test_nobody_listening_is_a_clear_error_in_time(closed_url: str) -> None:
    app = hasty(closed_url)
    began = time.monotonic()
    with pytest.raises(RedisUnavailable, match=r"Is it running.*Nothing was enqueued"):
        app.enqueue("a")
    assert time.monotonic() - began < LATEST_SECONDS


def test_a_silent_server_is_a_clear_error_in_time(silent_url: str) -> None:
    app = hasty(silent_url)
    began = time.monotonic()
    with pytest.raises(RedisUnavailable, match="Whether the call was recorded is unknown"):
        app.enqueue("a")
    assert time.monotonic() - began < LATEST_SECONDS


async def test_a_crowd_of_calls_to_a_silent_server_fails_together(silent_url: str) -> None:
    app = hasty(silent_url)
    crowd = 10 * MAX_IN_FLIGHT
    began = time.monotonic()
    results = await asyncio.gather(*(app.aenqueue("a") for _ in range(crowd)), return_exceptions=True)
    assert time.monotonic() - began < LATEST_SECONDS
    assert [type(result) for result in results] == [RedisUnavailable] * crowd
    assert sum("this one was not sent" in str(result) for result in results) == crowd - MAX_IN_FLIGHT
    await app.aclose()


@pytest.mark.redis
async def test_one_call_that_gives_up_takes_no_other_along(proxy: TcpProxy) -> None:
    app = hasty(proxy.url)
    is_over = asyncio.Event()

    async def produce() -> int:
        sent = 0
        while not is_over.is_set():
            await app.aenqueue("a")
            sent += 1
        return sent

    # More producers than turns, so that some always wait; only the pair's answer has a comma.
    producers = [asyncio.create_task(produce()) for _ in range(3 * MAX_IN_FLIGHT)]
    proxy.lose_replies(b"enqueued,enqueued", 10, fault="swallow")
    with pytest.raises(RedisUnavailable, match="Whether the call was recorded is unknown"):
        await app.aenqueue_many([app.call("a"), app.call("a")])
    is_over.set()
    assert all(sent > 0 for sent in await asyncio.gather(*producers))
    await app.aclose()


@pytest.mark.redis
def test_a_wrong_password_is_named_as_such(redis_url: str) -> None:
    app = App(redis_url.replace("redis://", "redis://nobody:wrong@"))
    with pytest.raises(RedisUnavailable, match="refused the credentials") as caught:
        app.enqueue("a")
    assert "wrong@" not in str(caught.value)
