"""Clients that ask Sentinels for the primary, anew for every connection they make.

Called by `connection` for URLs that name Sentinels. After a fail-over the old connections break or answer
READONLY, and the next one leads to the new primary.
"""

from __future__ import annotations

from typing import Any

import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel
from redis.connection import parse_url

from stanchion.store.redis_url import RedisUrl

SENTINEL_TIMEOUT_SECONDS = 1.0
"""One that is down must leave time to ask the others within a client's own time-out."""


class _Pool(redis.asyncio.sentinel.SentinelConnectionPool):
    """Takes its connections to the Sentinels along when it is closed."""

    async def aclose(self) -> None:
        await super().aclose()
        for one in self.sentinel_manager.sentinels:
            await one.aclose()


def client(url: RedisUrl, **options: Any) -> redis.Redis:
    """A blocking client on the primary. `options` are redis-py's of a connection."""
    login = _sentinel_options(url)
    manager = redis.sentinel.Sentinel(url.sentinels, 0, login)  # type: ignore[no-untyped-call]
    options |= _server_options(url)
    made: redis.Redis = manager.master_for(url.service, **options)  # type: ignore[no-untyped-call]
    return made


def async_client(url: RedisUrl, **options: Any) -> redis.asyncio.Redis:
    """An asyncio client on the primary; as `client`."""
    login = _sentinel_options(url)
    manager = redis.asyncio.sentinel.Sentinel(url.sentinels, 0, login)  # type: ignore[no-untyped-call]
    options |= {"connection_pool_class": _Pool, **_server_options(url)}
    made: redis.asyncio.Redis = manager.master_for(url.service, **options)
    return made


def _server_options(url: RedisUrl) -> dict[str, Any]:
    """User, database and TLS of the server; its address is the Sentinels' to say."""
    options: dict[str, Any] = parse_url(url.server)  # type: ignore[no-untyped-call]
    del options["host"]
    if options.pop("connection_class", None) is not None:
        options["ssl"] = True
    return options


def _sentinel_options(url: RedisUrl) -> dict[str, Any]:
    """TLS as for the server; a login of their own."""
    tls = {name: value for name, value in _server_options(url).items() if name.startswith("ssl")}
    return {
        **url.sentinel_login,
        **tls,
        "socket_timeout": SENTINEL_TIMEOUT_SECONDS,
        "socket_connect_timeout": SENTINEL_TIMEOUT_SECONDS,
        "retry": None,
    }
