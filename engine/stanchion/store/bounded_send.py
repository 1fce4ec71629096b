"""Connections whose tasks can be cancelled: redis-py's own, but for how a send is bounded in time.

redis-py bounds it with `asyncio.wait_for`, which on Python 3.11 swallows a cancellation that arrives as the
send completes. The task then goes on as if never told to end, and whoever awaits its end waits for ever.
Used by `connection.connect_async` only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import redis.asyncio
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import TimeoutError as RedisTimeoutError


class _BoundedSend(AbstractConnection):
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


class _Tcp(_BoundedSend, Connection):
    pass


class _Tls(_BoundedSend, SSLConnection):
    pass


class _Unix(_BoundedSend, UnixDomainSocketConnection):
    pass


_CLASSES: dict[type[AbstractConnection], type[AbstractConnection]] = {
    Connection: _Tcp,
    SSLConnection: _Tls,
    UnixDomainSocketConnection: _Unix,
}


def bound_sends(client: redis.asyncio.Redis) -> redis.asyncio.Redis:
    """The same client, before its first command: every connection it opens is cancellable."""
    pool = client.connection_pool
    pool.connection_class = _CLASSES[pool.connection_class]
    return client
