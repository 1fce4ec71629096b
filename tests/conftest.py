"""Fixtures every tier shares: a real Redis of the tests' own, and clients on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
import redis
import redis.asyncio

from rig import redis_versions
from stanchion.dev.redis_server import RedisServer
from stanchion.store import connection


@pytest.fixture(scope="session")
def redis_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], RedisServer]]:
    """The server of a version, started when first asked for; its folder goes with the run."""
    with ExitStack() as running:

        @cache
        def server(version: str) -> RedisServer:
            binary = redis_versions.binary(version)
            return running.enter_context(RedisServer(tmp_path_factory.mktemp("redis"), binary=binary))

        yield server


@pytest.fixture(scope="session")
def redis_server(request: pytest.FixtureRequest, redis_servers: Callable[[str], RedisServer]) -> RedisServer:
    """One server for the whole run, on a free port: the one on PATH, unless a test runs on every version."""
    return redis_servers(getattr(request, "param", redis_versions.ON_PATH))


@pytest.fixture
def redis_url(redis_server: RedisServer) -> Iterator[str]:
    """The URL of an empty database; emptied again afterwards."""
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
        client.script_flush()
        yield redis_server.url
        client.flushall()


@pytest.fixture
def redis_client(redis_url: str) -> Iterator[redis.Redis]:
    """A blocking client on the empty database; replies are bytes."""
    with connection.connect(redis_url) as client:
        yield client


@pytest.fixture
async def aredis(redis_url: str) -> AsyncIterator[redis.asyncio.Redis]:
    """An asyncio client on the empty database; replies are bytes."""
    async with connection.connect_async(redis_url) as client:
        yield client
