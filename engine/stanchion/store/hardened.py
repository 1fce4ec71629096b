"""redis-py's own connections with three mends. Used by `connection` only, before a client's first command.

A send bounded in time: redis-py bounds it with `asyncio.wait_for`, which on Python 3.11 swallows a
cancellation that arrives as the send completes. The task then goes on as if never told to end, and whoever
awaits its end waits for ever.

A demoted server is left: after a fail-over behind one name, redis-py keeps the connection to the server that
has become a replica, and every write is answered READONLY for as long as that server lives.

An error has its class: Redis 6.2 wraps the error of a command inside a script in one of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import redis
import redis.asyncio
from redis.asyncio.connection import AbstractConnection as AsyncConnection
from redis.connection import AbstractConnection
from redis.exceptions import OutOfMemoryError, ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

WRAPPED: dict[str, type[ResponseError]] = {"-READONLY ": ReadOnlyError, "-OOM ": OutOfMemoryError}
"""How Redis 6.2 names, inside another text, the errors that callers act on."""


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


class _AsyncAnswers(AsyncConnection):
    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        """As the original, but hangs up on a server that may not be written to."""
        try:
            return await super().read_response(*args, **kwargs)
        except ResponseError as error:
            true_error = unwrapped(error)
            if isinstance(true_error, ReadOnlyError):
                await self.disconnect(nowait=True)
            raise true_error from None


class _Answers(AbstractConnection):
    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        """As `_AsyncAnswers`."""
        try:
            return super().read_response(*args, **kwargs)
        except ResponseError as error:
            true_error = unwrapped(error)
            if isinstance(true_error, ReadOnlyError):
                self.disconnect()  # type: ignore[no-untyped-call]
            raise true_error from None


def unwrapped(error: ResponseError) -> ResponseError:
    """The error a caller can tell apart: for Redis 6.2, the one of the command inside the script."""
    for code, kind in WRAPPED.items():
        if code in str(error) and not isinstance(error, kind):
            return kind(str(error))
    return error


def hardened(client: redis.Redis) -> redis.Redis:
    """The same client: every connection it opens leaves a demoted server."""
    pool = client.connection_pool
    pool.connection_class = _with(pool.connection_class, _Answers)
    return client


def hardened_async(client: redis.asyncio.Redis) -> redis.asyncio.Redis:
    """The same client: every connection it opens is cancellable and leaves a demoted server."""
    pool = client.connection_pool
    pool.connection_class = _with(pool.connection_class, _AsyncAnswers, _BoundedSend)
    return client


def _with(kind: type[Any], *mends: type[Any]) -> type[Any]:
    return type(kind.__name__, (*mends, kind), {})
