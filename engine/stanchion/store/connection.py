"""The only maker of Redis clients: URL, time-outs and names, and the errors a caller can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
import redis.asyncio
import redis.sentinel
from redis import exceptions

from stanchion.errors import RedisUnavailable
from stanchion.store import sentinel
from stanchion.store.hardened import hardened, hardened_async
from stanchion.store.redis_url import RedisUrl
from stanchion.store.redis_url import check_url as check_url
from stanchion.store.redis_url import redact as redact

CONNECT_TIMEOUT_SECONDS = 5.0


def connect(url: str, *, timeout_seconds: float = 5.0, name: str = "stanchion") -> redis.Redis:
    """A blocking client; no I/O until its first command. Replies are bytes.

    Raises InvalidSettings if `url` is no Redis URL.
    """
    parsed, options = RedisUrl.parse(url), _options(timeout_seconds, name)
    if parsed.sentinels:
        return hardened(sentinel.client(parsed, **options))
    return hardened(redis.Redis.from_url(parsed.server, **options))


def connect_async(
    url: str, *, timeout_seconds: float | None = 5.0, name: str = "stanchion"
) -> redis.asyncio.Redis:
    """An asyncio client; as `connect`. A wait that blocks on purpose passes `timeout_seconds=None`."""
    parsed, options = RedisUrl.parse(url), _options(timeout_seconds, name)
    if parsed.sentinels:
        return hardened_async(sentinel.async_client(parsed, **options))
    return hardened_async(redis.asyncio.Redis.from_url(parsed.server, **options))


def _options(timeout_seconds: float | None, name: str) -> dict[str, Any]:
    return {
        "socket_timeout": timeout_seconds,
        "socket_connect_timeout": min(timeout_seconds or CONNECT_TIMEOUT_SECONDS, CONNECT_TIMEOUT_SECONDS),
        "client_name": name,
    }


def wants_password(error: Exception) -> bool:
    """Whether the server refused because no password was given, which it tells in the words of HELLO."""
    return "NOAUTH" in str(error) or "Authentication required" in str(error) or "HELLO" in str(error)


@contextmanager
def readable_errors(url: str) -> Iterator[None]:
    """Turn redis-py's connection errors into RedisUnavailable that says where and what to do."""
    try:
        yield
    except exceptions.AuthenticationError as error:
        if wants_password(error):
            raise RedisUnavailable(
                f"Redis at {redact(url)} wants a password: put it into the URL, redis://:PASSWORD@HOST:PORT/DB"
            ) from error
        raise RedisUnavailable(
            f"Redis at {redact(url)} refused the credentials ({error}): check user and password in the URL"
        ) from error
    except exceptions.NoPermissionError as error:
        raise RedisUnavailable(f"Redis at {redact(url)} denies this user a command: {error}") from error
    except redis.sentinel.MasterNotFoundError as error:
        raise RedisUnavailable(
            f"the Sentinels in {redact(url)} name no primary ({error}): do they run, and do they call it so?"
        ) from error
    except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
        if "certificate" in str(error).lower():
            raise RedisUnavailable(
                f"TLS with Redis at {redact(url)} failed ({error}): check the ssl_… options of the URL"
            ) from error
        raise RedisUnavailable(
            f"Redis at {redact(url)} cannot be reached ({error}): is it running, and is "
            "STANCHION_REDIS_URL right?"
        ) from error
    except exceptions.OutOfMemoryError as error:
        raise RedisUnavailable(
            f"Redis at {redact(url)} is full and refuses writes; raise maxmemory or drain a queue"
        ) from error
    except exceptions.RedisError as error:
        # READONLY after a fail-over, MISCONF: the server is there and says what is wrong.
        raise RedisUnavailable(f"Redis at {redact(url)} refused: {error}") from error
