"""Calls on connections that are kept: what becomes of a connection, and that a script is found again."""

from __future__ import annotations

import asyncio

import pytest
import redis
import redis.asyncio
from redis.exceptions import ResponseError

from stanchion.store import direct
from stanchion.store.direct import AsyncDirect, Direct
from waiting import until

pytestmark = pytest.mark.redis

ECHO = "return ARGV[1]"
FAIL = "return redis.error_reply('no')"


def connections(client: redis.Redis) -> int:
    """How many clients Redis has, this one included."""
    return len(client.client_list())


def test_calls_in_turn_share_one_connection(redis_client: redis.Redis) -> None:
    calls = Direct(redis_client)
    before = connections(redis_client)
    assert [calls.eval(ECHO, 0, number) for number in range(3)] == [b"0", b"1", b"2"]
    assert connections(redis_client) == before + 1


def test_a_connection_serves_on_after_an_error_of_redis(redis_client: redis.Redis) -> None:
    calls = Direct(redis_client)
    with pytest.raises(ResponseError, match="no"):
        calls.eval(FAIL, 0)
    assert calls.eval(ECHO, 0, b"\xff") == b"\xff"


def test_a_connection_the_server_closed_while_it_rested_is_not_used(
    redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "CHECK_AFTER_SECONDS", 0.0)
    calls = Direct(redis_client)
    calls.eval(ECHO, 0, 1)
    redis_client.client_kill_filter(_type="normal", skipme=True)
    assert calls.eval(ECHO, 0, 2) == b"2"


def test_hanging_up_leaves_no_connection(redis_client: redis.Redis) -> None:
    before = connections(redis_client)
    calls = Direct(redis_client)
    calls.eval(ECHO, 0, 1)
    calls.hang_up()
    until(lambda: connections(redis_client) == before)


async def test_a_cancelled_call_takes_its_connection_with_it(aredis: redis.asyncio.Redis) -> None:
    """Its reply would otherwise be read by the next call."""
    calls = AsyncDirect(aredis)
    await calls.eval(ECHO, 0, "warm")
    slow = asyncio.ensure_future(calls.eval("return redis.call('TIME')", 0))
    await asyncio.sleep(0)
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)
    assert await calls.eval(ECHO, 0, "mine") == b"mine"


async def test_asyncio_calls_rest_check_and_hang_up_as_blocking_ones_do(
    aredis: redis.asyncio.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "CHECK_AFTER_SECONDS", 0.0)
    calls = AsyncDirect(aredis)
    with pytest.raises(ResponseError, match="no"):
        await calls.eval(FAIL, 0)
    assert await asyncio.gather(*(calls.eval(ECHO, 0, number) for number in range(3))) == [b"0", b"1", b"2"]
    await aredis.client_kill_filter(_type="normal", skipme=True)
    await calls.hang_up()
    assert await calls.eval(ECHO, 0, 2) == b"2"
