"""A task that uses a client ends when it is cancelled, whatever instant that is; time-outs still bind."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import pytest
import redis.asyncio
from redis.exceptions import TimeoutError as RedisTimeoutError

from stanchion.store import connection

pytestmark = pytest.mark.redis

CANCELLATIONS = 300


@pytest.fixture
async def mute_url() -> AsyncIterator[str]:
    """A server that accepts and never answers nor reads."""
    held: list[asyncio.StreamWriter] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        for writer in held:
            writer.close()


async def test_a_cancelled_task_ends_at_whatever_instant(aredis: redis.asyncio.Redis) -> None:
    async def work() -> None:
        while True:
            await aredis.ping()

    rng = random.Random(7)
    for _ in range(CANCELLATIONS):
        task = asyncio.create_task(work())
        await asyncio.sleep(rng.random() * 0.002)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=5)
        assert done, "the cancellation was swallowed"


async def test_a_server_that_stays_mute_is_a_time_out(mute_url: str) -> None:
    async with connection.connect_async(mute_url, timeout_seconds=0.2) as client:
        with pytest.raises((RedisTimeoutError, redis.ConnectionError)):
            async with asyncio.timeout(10):
                await client.ping()
