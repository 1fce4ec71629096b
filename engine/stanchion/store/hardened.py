"""redis-py's own connections with two mends. Used by `connection` only, before a client's first command.

A send bounded in time: redis-py bounds it with `asyncio.wait_for`, which on Python 3.11 swallows a
cancellation that arrives as the send completes. The task then goes on as if never told to end, and whoever
awaits its end waits for ever.

A demoted server is left: after a fail-over behind one name, redis-py keeps the connection to the server that
has become a replica, and every write is answered READONLY for as long as that server lives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import redis
import redis.asyncio
from redis.asyncio.connection import AbstractConnection as AsyncConnection
from redis.connection import AbstractConnection
from redis.exceptions import ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError


class _BoundedSend(AsyncConnection):
    """One task uses a connection at a time, so the time-out may be put aside during the send."""

    async def send_packed_command(
        self, command: bytes | str | Iterable[bytes], check_health: bool = True
    ) -> None:
        """Send within `socket_timeout`. Raises redis-py's errors, as the original."""
        timeout_seconds, self.socket_timeout = self.socket_timeout, None
        try:
            async with asyncio.timeout(timeout_seconds):
                await super().send_packed_command(command, check_health)
        except TimeoutError:
            await self.disconnect(nowait=True)
            raise RedisTimeoutError("Timeout writing to socket") from None
        finally:
            self.socket_timeout = timeout_seconds


class _AsyncLeavesDemoted(AsyncConnection):
    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        """As the original, but hangs up on a server that may not be written to."""
        try:
            return await super().read_response(*args, **kwargs)
        except ResponseError as error:
            if is_read_only(error):
                await self.disconnect(nowait=True)
            raise


class _LeavesDemoted(AbstractConnection):
    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        """As `_AsyncLeavesDemoted`."""
        try:
            return super().read_response(*args, **kwargs)
        except ResponseError as error:
            if is_read_only(error):
                self.disconnect()  # type: ignore[no-untyped-call]
            raise


def is_read_only(error: BaseException) -> bool:
    """Whether a server answered READONLY. Redis 6.2 wraps a script's error in one of its own."""
    return isinstance(error, ReadOnlyError) or "READONLY" in str(error)


def hardened(client: redis.Redis) -> redis.Redis:
    """The same client: every connection it opens leaves a demoted server."""
    pool = client.connection_pool
    pool.connection_class = _with(pool.connection_class, _LeavesDemoted)
    return client


def hardened_async(client: redis.asyncio.Redis) -> redis.asyncio.Redis:
    """The same client: every connection it opens is cancellable and leaves a demoted server."""
    pool = client.connection_pool
    pool.connection_class = _with(pool.connection_class, _AsyncLeavesDemoted, _BoundedSend)
    return client


def _with(kind: type[Any], *mends: type[Any]) -> type[Any]:
    return type(kind.__name__, (*mends, kind), {})
