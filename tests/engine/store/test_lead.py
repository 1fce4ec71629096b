"""One leads at a time; another follows when the lease ends or is given up."""

from __future__ import annotations

import pytest
import redis.asyncio

from rig.redis_versions import every_redis
from stanchion.store.lead import lead, resign

pytestmark = [pytest.mark.redis, every_redis]

DUTY = "test:duty"


async def test_one_leads_and_the_others_learn_how_long(aredis: redis.asyncio.Redis) -> None:
    assert await lead(aredis, DUTY, "one", 3.0) == 0
    assert 2 < await lead(aredis, DUTY, "two", 3.0) <= 3
    assert await lead(aredis, DUTY, "one", 3.0) == 0
    assert 2000 < await aredis.pttl(DUTY) <= 3000


async def test_only_the_leader_gives_it_up(aredis: redis.asyncio.Redis) -> None:
    await lead(aredis, DUTY, "one", 3.0)
    await resign(aredis, DUTY, "two")
    assert await lead(aredis, DUTY, "two", 3.0) > 0
    await resign(aredis, DUTY, "one")
    assert await lead(aredis, DUTY, "two", 3.0) == 0


async def test_what_is_no_lease_keeps_nobody_from_leading(aredis: redis.asyncio.Redis) -> None:
    await aredis.set(DUTY, "left by hand, for ever")
    assert await lead(aredis, DUTY, "one", 3.0) == 0
    await aredis.delete(DUTY)
    await aredis.rpush(DUTY, "a key of another type")
    await resign(aredis, DUTY, "one")
    assert await lead(aredis, DUTY, "one", 3.0) == 0
