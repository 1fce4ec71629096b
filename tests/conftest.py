"""Fixtures every tier shares: a real Redis of the tests' own, and clients on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import redis
import redis.asyncio

from stanchion.dev.redis_server import RedisServer
from stanchion.store import connection


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for the whole run, on a free port, in a folder that goes with the run."""
    folder: Path = tmp_path_factory.mktemp("redis")
    with RedisServer(folder) as server:
        yield server


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
