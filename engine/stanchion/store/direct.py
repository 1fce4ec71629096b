"""Script calls on connections kept at hand: for the two calls made for every job, enqueue and trip.

redis-py's client spends more on each call than Redis does: it takes a connection from a pool and gives it
back, and packs every argument in Python. Here hiredis packs a command in one go, and it goes over a
connection of the same pool that stays out of it. Everything else about the connection is the pool's: where
it leads, TLS, user, time-outs, and hanging up after an error.

The client of enqueue and the trips of a child make one for their client. It decides nothing about errors.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import hiredis
import redis
import redis.asyncio
from redis.asyncio.connection import AbstractConnection as AsyncConnection
from redis.connection import Connection

Part = str | bytes | int | float

CHECK_AFTER_SECONDS = 1.0
"""A connection unused for so long goes through the pool, which sees whether the server has hung up."""


class Direct:
    """Blocking calls; as many at once as there are callers. Safe between threads, not across a fork."""

    def __init__(self, client: redis.Redis) -> None:
        self._pool = client.connection_pool
        self._kept: deque[tuple[Connection, float]] = deque()

    def evalsha(self, *parts: Part) -> Any:
        """As `redis.Redis.evalsha`: digest, number of keys, keys, arguments. Raises redis-py's errors."""
        return self._call("EVALSHA", *parts)

    def eval(self, *parts: Part) -> Any:
        """As `redis.Redis.eval`: source, number of keys, keys, arguments. Raises redis-py's errors."""
        return self._call("EVAL", *parts)

    def hang_up(self) -> None:
        """Close the connections no call is using: they lead to a server that is no primary any more."""
        while self._kept:
            self._pool.release(self._kept.pop()[0])
        self._pool.disconnect(inuse_connections=False)

    def _call(self, *parts: Part) -> Any:
        connection = self._take()
        try:
            connection.send_packed_command([_packed(parts)], check_health=False)  # type: ignore[no-untyped-call]
            reply = connection.read_response()
        except BaseException:
            # It may have hung up, and only the pool knows where the primary is now.
            self._pool.release(connection)
            raise
        self._kept.append((connection, time.monotonic()))
        return reply

    def _take(self) -> Connection:
        try:
            connection, used_at = self._kept.pop()
        except IndexError:
            return self._pool.get_connection()
        if time.monotonic() - used_at < CHECK_AFTER_SECONDS:
            return connection
        self._pool.release(connection)
        return self._pool.get_connection()


class AsyncDirect:
    """As `Direct`, on the running event loop."""

    def __init__(self, client: redis.asyncio.Redis) -> None:
        self._pool = client.connection_pool
        self._kept: deque[tuple[AsyncConnection, float]] = deque()

    async def evalsha(self, *parts: Part) -> Any:
        """As `Direct.evalsha`."""
        return await self._call("EVALSHA", *parts)

    async def eval(self, *parts: Part) -> Any:
        """As `Direct.eval`."""
        return await self._call("EVAL", *parts)

    async def hang_up(self) -> None:
        """As `Direct.hang_up`."""
        while self._kept:
            await self._pool.release(self._kept.pop()[0])
        await self._pool.disconnect(inuse_connections=False)

    async def _call(self, *parts: Part) -> Any:
        connection = await self._take()
        try:
            await connection.send_packed_command([_packed(parts)], check_health=False)
            reply = await connection.read_response()
        except BaseException:
            await self._pool.release(connection)  # as above
            raise
        self._kept.append((connection, time.monotonic()))
        return reply

    async def _take(self) -> AsyncConnection:
        if self._kept:
            connection, used_at = self._kept.pop()
            if time.monotonic() - used_at < CHECK_AFTER_SECONDS:
                return connection
            await self._pool.release(connection)
        return await self._pool.get_connection()  # type: ignore[no-any-return,no-untyped-call]


def _packed(parts: tuple[Part, ...]) -> bytes:
    packed: bytes = hiredis.pack_command(parts)  # type: ignore[arg-type]  # its stub wants one part only
    return packed
