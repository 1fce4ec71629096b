"""Calls to a real Redis through a network that loses replies: every accepted job is in its queue once."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import redis
import redis.asyncio

from engine.tcp_proxy import TcpProxy
from stanchion.app import App
from stanchion.client import MAX_IN_FLIGHT, Client
from stanchion.dev.redis_server import RedisServer
from stanchion.errors import InvalidArguments, RedisUnavailable, Refused, StanchionError
from stanchion.policy.contract import encode
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.settings import Settings
from stanchion.store import config, keys
from stanchion.verdict import Verdict

TIMEOUT_SECONDS = 1.0
LATEST_SECONDS = 3 * TIMEOUT_SECONDS
"""When a call with that time-out must have ended, on a machine that is busy with other tests."""


@pytest.fixture
def proxy(redis_server: RedisServer) -> Iterator[TcpProxy]:
    with TcpProxy(redis_server.port) as opened:
        yield opened


@pytest.fixture
def app(redis_url: str, proxy: TcpProxy) -> App:
    """An App whose Redis is empty and behind the proxy."""
    assert redis_url
    return App(settings=Settings(redis_url=proxy.url, client_timeout_seconds=TIMEOUT_SECONDS))


@pytest.fixture
def silent_url() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


@pytest.fixture
def closed_url() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def ready(client: redis.Redis, queue: str = "default") -> list[str]:
    """The jids in a list, oldest first."""
    return [json.loads(raw)["jid"] for raw in reversed(client.lrange(keys.queue(queue), 0, -1))]


def enqueued(client: redis.Redis, queue: str = "default") -> int:
    return int(client.hget(keys.counters(queue), "enq") or 0)


@pytest.mark.redis
def test_a_job_is_in_its_queue_as_sidekiq_would_write_it(app: App, redis_client: redis.Redis) -> None:
    before = time.time()
    verdict = app.enqueue("mail.welcome", [7], queue="mail", tenant="acme", retries=3)
    payload = json.loads(redis_client.lindex("queue:mail", 0) or b"")
    assert verdict == Verdict("enqueued", payload["jid"])
    assert before <= payload["enqueued_at"] == payload["created_at"] <= time.time()
    assert payload | {"created_at": 0, "enqueued_at": 0} == {
        "retry": 3,
        "queue": "mail",
        "args": [7],
        "class": "mail.welcome",
        "jid": verdict.jid,
        "created_at": 0,
        "tenant": "acme",
        "enqueued_at": 0,
    }


@pytest.mark.redis
def test_a_scheduled_job_waits_in_the_schedule(app: App, redis_client: redis.Redis) -> None:
    verdict = app.enqueue("mail.welcome", delay=30)
    [member] = redis_client.zrange(keys.SCHEDULE, 0, -1)
    assert isinstance(member, bytes)
    score = redis_client.zscore(keys.SCHEDULE, member)
    assert (verdict.status, verdict.until) == ("scheduled", score)
    assert "enqueued_at" not in json.loads(member)
    assert score == json.loads(member)["created_at"] + 30


@pytest.mark.redis
def test_a_lost_reply_is_asked_for_again_and_the_job_is_in_once(
    app: App, proxy: TcpProxy, redis_client: redis.Redis
) -> None:
    proxy.lose_replies(b"DONE", 2)
    verdict = app.enqueue("a")
    assert (verdict.status, verdict.reason) == ("enqueued", None)
    assert proxy.lost_replies == 2
    assert ready(redis_client) == [verdict.jid]
    assert enqueued(redis_client) == 1


@pytest.mark.redis
def test_a_reply_that_never_comes_is_asked_for_again_in_time(
    app: App, proxy: TcpProxy, redis_client: redis.Redis
) -> None:
    proxy.lose_replies(b"DONE", fault="swallow")
    verdict = app.enqueue("a")
    assert ready(redis_client) == [verdict.jid]
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
    assert Counter(ready(redis_client)) == Counter(verdict.jid for verdict in verdicts)
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
    assert Counter(ready(redis_client)) == Counter(verdict.jid for verdict in verdicts)


@pytest.mark.redis
def test_a_bulk_call_is_cut_in_chunks_and_each_is_recorded_once(
    app: App, proxy: TcpProxy, redis_client: redis.Redis
) -> None:
    proxy.lose_replies(b"DONE", 2)
    verdicts = app.enqueue_many(app.call("a", [n]) for n in range(450))
    assert proxy.lost_replies == 2
    assert len(verdicts) == 450
    assert ready(redis_client) == [verdict.jid for verdict in verdicts]
    assert enqueued(redis_client) == 450


@pytest.mark.redis
async def test_bulk_calls_carry_their_own_queues_and_times(app: App, redis_client: redis.Redis) -> None:
    verdicts = await app.aenqueue_many(
        [app.call("a", queue="one"), app.call("a", queue="two"), app.call("a", delay=60)]
    )
    assert [verdict.status for verdict in verdicts] == ["enqueued", "enqueued", "scheduled"]
    assert (ready(redis_client, "one"), ready(redis_client, "two")) == ([verdicts[0].jid], [verdicts[1].jid])
    await app.aclose()


@pytest.mark.redis
def test_a_bulk_call_with_large_arguments_is_cut_by_size(app: App, redis_client: redis.Redis) -> None:
    # 12 jobs of 400 kB: two fit in a chunk of a mebibyte.
    redis_client.config_resetstat()
    app.enqueue_many(app.call("a", ["x" * 400_000]) for _ in range(12))
    calls = redis_client.info("commandstats")["cmdstat_evalsha"]["calls"]
    assert len(ready(redis_client)) == 12
    assert calls == 6


@pytest.mark.redis
def test_an_empty_bulk_call_asks_nothing(closed_url: str) -> None:
    assert App(closed_url).enqueue_many([]) == []


@pytest.mark.redis
def test_a_wrong_call_in_a_bulk_raises_before_its_chunk_is_sent(app: App, redis_client: redis.Redis) -> None:
    with pytest.raises(InvalidArguments):
        app.enqueue_many(app.call("a", [n] if n < 50 else [b"x"]) for n in range(100))
    assert ready(redis_client) == []


@pytest.mark.redis
def test_a_callers_jid_makes_a_second_call_harmless(app: App, redis_client: redis.Redis) -> None:
    first = app.enqueue("a", jid="order-7", delay=60)
    again = app.enqueue("a", jid="order-7")
    assert (first.status, first.reason) == ("scheduled", None)
    assert (again.status, again.reason, again.accepted) == ("scheduled", "already enqueued", True)
    assert ready(redis_client) == []
    assert redis_client.zcard(keys.SCHEDULE) == 1


@pytest.mark.redis
def test_a_lane_that_somebody_else_used_is_left_and_the_job_is_in(
    app: App, proxy: TcpProxy, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    nonces = iter(["same", "same", "other"])
    monkeypatch.setattr("stanchion.lane.secrets", SimpleNamespace(token_hex=lambda size: next(nonces)))
    twin = App(proxy.url)
    verdicts = [app.enqueue("a", jid="1"), twin.enqueue("a", jid="2")]
    assert ready(redis_client) == ["1", "2"]
    assert [verdict.status for verdict in verdicts] == ["enqueued", "enqueued"]
    assert sorted(redis_client.keys("stanchion:lane:*")) == [b"stanchion:lane:other", b"stanchion:lane:same"]


@pytest.mark.redis
def test_parent_and_forked_children_enqueue_side_by_side(app: App, redis_client: redis.Redis) -> None:
    app.enqueue("a", jid="before")
    children = []
    for child in range(3):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                for n in range(30):
                    app.enqueue("a", jid=f"{child}-{n}")
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
    for n in range(30):
        app.enqueue("a", jid=f"parent-{n}")
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0]
    expected = {"before"} | {f"{who}-{n}" for who in (0, 1, 2, "parent") for n in range(30)}
    assert Counter(ready(redis_client)) == Counter(expected)


@pytest.mark.redis
def test_one_app_serves_event_loop_after_event_loop(app: App, redis_client: redis.Redis) -> None:
    async def twice() -> list[Verdict]:
        try:
            return [await app.aenqueue("a"), await app.aenqueue("a")]
        finally:
            await app.aclose()

    verdicts = asyncio.run(twice()) + asyncio.run(twice())
    assert ready(redis_client) == [verdict.jid for verdict in verdicts]


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
    assert ready(redis_client) == ["first", "cancelled", "last"]
    await app.aclose()


@pytest.mark.redis
async def test_a_policy_that_changes_is_obeyed_by_the_next_call(
    app: App, aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    async def declare(max_retries: int | None, generation: int) -> None:
        policy = QueueConfig(Owner("shop", "default", "u", generation), "default", max_retries=max_retries)
        assert (await config.write(aredis, encode(policy, "test"))).in_redis

    await declare(5, 1)
    await app.aenqueue("a")
    await declare(2, 2)
    await app.aenqueue("a")
    await asyncio.to_thread(app.enqueue, "a", retries=9)
    retries = [json.loads(raw)["retry"] for raw in redis_client.lrange("queue:default", 0, -1)]
    assert retries == [9, 2, 5]
    await app.aclose()


@pytest.mark.redis
def test_a_configuration_that_cannot_be_read_ends_in_a_clear_error(
    app: App, redis_client: redis.Redis
) -> None:
    redis_client.set(keys.CONFIG_EPOCH, "1-x")
    redis_client.set(keys.CONFIG_INDEX, "no hash")
    with pytest.raises(
        RedisUnavailable, match="configuration that could not be read in time; nothing was enq"
    ):
        app.enqueue("a")
    assert ready(redis_client) == []


@pytest.mark.redis
def test_a_redis_that_has_forgotten_the_script_is_taught_again(app: App, redis_client: redis.Redis) -> None:
    app.enqueue("a")
    redis_client.script_flush()
    app.enqueue("a")
    assert len(ready(redis_client)) == 2


@pytest.mark.redis
def test_a_redis_that_is_read_only_for_a_moment_is_waited_for(
    app: App, redis_client: redis.Redis, closed_url: str
) -> None:
    host, port = closed_url.removeprefix("redis://").removesuffix("/0").split(":")
    redis_client.replicaof(host, int(port))
    back = threading.Timer(0.2, lambda: redis_client.replicaof("NO", "ONE"))
    back.start()
    try:
        verdict = app.enqueue("a")
    finally:
        back.join()
    assert ready(redis_client) == [verdict.jid]


@pytest.mark.redis
def test_a_full_redis_is_named_as_such(app: App, redis_client: redis.Redis) -> None:
    redis_client.config_set("maxmemory", 1)
    try:
        with pytest.raises(RedisUnavailable, match="is full and refuses new jobs; raise maxmemory"):
            app.enqueue("a")
    finally:
        redis_client.config_set("maxmemory", 0)


@pytest.mark.redis
def test_what_redis_refuses_is_not_repeated(app: App, redis_client: redis.Redis) -> None:
    redis_client.set("queue:default", "no list")
    with pytest.raises(StanchionError, match="refused the call: WRONGTYPE"):
        app.enqueue("a")
    verdicts = app.enqueue_many([app.call("a", queue="other"), app.call("a")])
    assert [verdict.status for verdict in verdicts] == ["enqueued", "refused"]


def test_nobody_listening_is_a_clear_error_in_time(closed_url: str) -> None:
    app = App(settings=Settings(redis_url=closed_url, client_timeout_seconds=TIMEOUT_SECONDS))
    began = time.monotonic()
    with pytest.raises(RedisUnavailable, match=r"Is it running.*Nothing was enqueued"):
        app.enqueue("a")
    assert time.monotonic() - began < LATEST_SECONDS


def test_a_silent_server_is_a_clear_error_in_time(silent_url: str) -> None:
    app = App(settings=Settings(redis_url=silent_url, client_timeout_seconds=TIMEOUT_SECONDS))
    began = time.monotonic()
    with pytest.raises(RedisUnavailable, match="Whether the call was recorded is unknown"):
        app.enqueue("a")
    assert time.monotonic() - began < LATEST_SECONDS


async def test_a_crowd_of_calls_to_a_silent_server_fails_together(silent_url: str) -> None:
    app = App(settings=Settings(redis_url=silent_url, client_timeout_seconds=TIMEOUT_SECONDS))
    crowd = 10 * MAX_IN_FLIGHT
    began = time.monotonic()
    results = await asyncio.gather(*(app.aenqueue("a") for _ in range(crowd)), return_exceptions=True)
    assert time.monotonic() - began < LATEST_SECONDS
    assert [type(result) for result in results] == [RedisUnavailable] * crowd
    assert sum("this one was not sent" in str(result) for result in results) == crowd - MAX_IN_FLIGHT
    await app.aclose()


@pytest.mark.redis
def test_a_wrong_password_is_named_as_such(redis_url: str) -> None:
    app = App(redis_url.replace("redis://", "redis://nobody:wrong@"))
    with pytest.raises(RedisUnavailable, match="refused the credentials") as caught:
        app.enqueue("a")
    assert "wrong@" not in str(caught.value)


def test_a_refusal_raises_unless_it_is_to_be_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Verdict("refused", "a1", reason="over its quota")
    monkeypatch.setattr(Client, "push", lambda self, call: refusal)
    with pytest.raises(Refused, match="job a1 was refused: over its quota") as caught:
        App().enqueue("a")
    assert caught.value.verdict is refusal
    assert App().enqueue("a", on_refused="return") is refusal
    assert App(on_refused="return").enqueue("a") is refusal
    with pytest.raises(Refused):
        App(on_refused="return").enqueue("a", on_refused="raise")


async def test_a_blocking_call_in_a_coroutine_warns_at_the_callers_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Client, "push", lambda self, call: Verdict("enqueued", "a1"))
    monkeypatch.setattr(Client, "push_many", lambda self, calls: [])
    app = App()

    @app.job
    def work() -> None: ...

    for name, block in (
        ("enqueue", work.enqueue),
        ("enqueue", work.options(delay=1).enqueue),
        ("enqueue", lambda: app.enqueue("work")),
        ("enqueue_many", lambda: app.enqueue_many([])),
    ):
        with pytest.warns(RuntimeWarning, match=rf"{name}\(\) blocks .* a{name}") as warned:
            block()
        assert [warning.filename for warning in warned] == [__file__]
