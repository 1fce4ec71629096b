from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio

from stanchion.dev.redis_server import RedisServer
from stanchion.policy.queue_policy import RedisRef
from stanchion_operator.errors import Missing, SpecRefused, Unreachable
from stanchion_operator.redis_config.server import REST_SECONDS, Server
from stanchion_operator.redis_config.servers import Servers

NOBODY = "redis://127.0.0.1:1/0"


def secret(url: str, *, uid: str = "s1", key: str = "url") -> dict[str, Any]:
    return {"metadata": {"uid": uid}, "data": {key: base64.b64encode(url.encode()).decode()}}


def servers(**secrets: dict[str, Any]) -> Servers:
    async def read(namespace: str, name: str) -> dict[str, Any] | None:
        return secrets.get(name)

    return Servers(read, "default", frozenset({"default", "allowed"}))


async def test_one_url_is_one_server() -> None:
    made = servers(default=secret(NOBODY), allowed=secret(NOBODY, uid="s2"))
    one = await made.resolve("a", None)
    two = await made.resolve("b", RedisRef("allowed"))
    assert one.server is two.server
    assert one.digest != two.digest


@pytest.mark.parametrize(
    ("reference", "secrets", "reason"),
    [
        (None, {}, "SecretMissing"),
        (RedisRef("default", "other"), {"default": secret(NOBODY)}, "SecretMissing"),
        (None, {"default": secret("http://x")}, "InvalidRedisUrl"),
        (None, {"default": {"metadata": {"uid": "s"}, "data": {"url": "%%%"}}}, "InvalidRedisUrl"),
    ],
)
async def test_what_is_missing_is_named(reference: RedisRef | None, secrets: Any, reason: str) -> None:
    with pytest.raises(Missing) as missing:
        await servers(**secrets).resolve("a", reference)
    assert missing.value.reason == reason


async def test_other_secrets_must_be_allowed() -> None:
    with pytest.raises(SpecRefused) as refused:
        await servers(mine=secret(NOBODY)).resolve("a", RedisRef("mine"))
    assert refused.value.reason == "SecretNotAllowed"


async def test_a_password_is_neither_shown_nor_in_an_error() -> None:
    server = Server("redis://:hunter2@127.0.0.1:1/0")
    with pytest.raises(Unreachable) as away:
        await server.look()
    assert "hunter2" not in away.value.message
    assert "hunter2" not in server.label


async def test_after_a_failure_all_others_fail_at_once() -> None:
    server = Server(NOBODY)
    with pytest.raises(Unreachable):
        await server.look()

    async def never(client: redis.asyncio.Redis) -> None:
        raise AssertionError("asked again too soon")

    with pytest.raises(Unreachable):
        await server.ask(never)


@pytest.mark.redis
async def test_two_names_of_one_server_are_one_place(redis_url: str) -> None:
    one, two = Server(redis_url), Server(redis_url.replace("127.0.0.1", "localhost"))
    other_database = Server(redis_url.rpartition("/")[0] + "/1")
    for server in (one, two, other_database):
        await server.meet()
    assert one.place == two.place != other_database.place
    for server in (one, two, other_database):
        await server.close()


@pytest.mark.redis
async def test_an_emptied_server_is_noticed_once(redis_url: str, redis_client: redis.Redis) -> None:
    server = Server(redis_url)
    assert not await server.look()
    redis_client.set("stanchion:config:epoch", "1-a")
    assert not await server.look()
    redis_client.flushall()
    assert await server.look()
    assert not await server.look()
    await server.close()


@pytest.mark.redis
async def test_another_life_of_the_server_is_noticed(tmp_path: Path) -> None:
    now = [0.0]
    with RedisServer(tmp_path / "one") as first:
        server = Server(first.url, lambda: now[0])
        await server.look()
    with pytest.raises(Unreachable):
        await server.look()
    now[0] += REST_SECONDS
    with RedisServer(tmp_path / "two", port=first.port):
        assert await server.look()
    await server.close()


@pytest.mark.redis
async def test_one_refused_command_does_not_rest_the_server(redis_url: str) -> None:
    server = Server(redis_url, clock=lambda: 0.0)
    try:
        await server.ask(lambda client: client.set("queue:imports", "no list"))
        with pytest.raises(Unreachable, match="WRONGTYPE"):
            await server.ask(lambda client: client.llen("queue:imports"))
        assert await server.ask(lambda client: client.ping())
    finally:
        await server.close()
