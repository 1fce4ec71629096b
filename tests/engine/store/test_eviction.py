"""A Redis that may evict our keys is told from one that may not."""

from __future__ import annotations

import pytest
import redis.asyncio

from stanchion.store import eviction


@pytest.mark.parametrize(
    ("policy", "max_memory", "says"),
    [
        ("noeviction", 1_000_000, ""),
        ("allkeys-lru", 0, ""),
        (
            "allkeys-lru",
            1_000_000,
            "whole queues, with every job in them: its maxmemory-policy is allkeys-lru",
        ),
        ("volatile-ttl", 1_000_000, "the memory of enqueued calls"),
    ],
)
def test_judge(policy: str, max_memory: int, says: str) -> None:
    verdict = eviction.judge(policy, max_memory)
    assert says in verdict
    assert bool(verdict) == bool(says)


@pytest.mark.redis
async def test_it_is_read_from_info(aredis: redis.asyncio.Redis) -> None:
    assert await eviction.danger(aredis) == ""
    await aredis.config_set("maxmemory", "100mb")
    await aredis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert "Set it to noeviction" in await eviction.danger(aredis)
    finally:
        await aredis.config_set("maxmemory-policy", "noeviction")
        await aredis.config_set("maxmemory", "0")
