"""The only maker of Redis clients: URL, time-outs and names, and the errors a caller can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import redis
import redis.asyncio
from redis import exceptions

from stanchion.errors import InvalidSettings, RedisUnavailable
from stanchion.store.bounded_send import bound_sends

SCHEMES = ("redis", "rediss", "unix")
CONNECT_TIMEOUT_SECONDS = 5.0


def connect(url: str, *, timeout_seconds: float = 5.0, name: str = "stanchion") -> redis.Redis:
    """A blocking client; no I/O until its first command. Replies are bytes.

    Raises InvalidSettings if `url` is no Redis URL.
    """
    check_url(url)
    return redis.Redis.from_url(
        url,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=min(timeout_seconds, CONNECT_TIMEOUT_SECONDS),
        client_name=name,
    )


def connect_async(
    url: str, *, timeout_seconds: float | None = 5.0, name: str = "stanchion"
) -> redis.asyncio.Redis:
    """An asyncio client; as `connect`. A wait that blocks on purpose passes `timeout_seconds=None`."""
    check_url(url)
    client = redis.asyncio.Redis.from_url(
        url,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
        client_name=name,
    )
    return bound_sends(client)


def check_url(url: str) -> None:
    """Raises InvalidSettings unless `url` has a scheme redis-py serves and a sane port and database."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InvalidSettings(f"the Redis URL {redact(url)!r} cannot be read: {error}") from None
    if parts.scheme not in SCHEMES:
        raise InvalidSettings(
            f"the Redis URL {redact(url)!r} must begin with redis://, rediss:// or unix://; "
            "for example redis://localhost:6379/0"
        )
    database = parts.path.strip("/")
    if parts.scheme != "unix" and database and not database.isdigit():
        raise InvalidSettings(
            f"the Redis URL {redact(url)!r} names database {database!r}, which is no number"
        )
    if port == 0:
        raise InvalidSettings(f"the Redis URL {redact(url)!r} has port 0")


def redact(url: str) -> str:
    """The URL with its password hidden, fit for logs and errors."""
    head, at, tail = url.rpartition("@")
    if not at:
        return url
    scheme, mark, credentials = head.partition("://")
    user = credentials.partition(":")[0]
    return f"{scheme}{mark}{user}:***@{tail}"


@contextmanager
def readable_errors(url: str) -> Iterator[None]:
    """Turn redis-py's connection errors into RedisUnavailable that says where and what to do."""
    try:
        yield
    except exceptions.AuthenticationError as error:
        raise RedisUnavailable(
            f"Redis at {redact(url)} refused the credentials ({error}): check user and password in the URL"
        ) from error
    except exceptions.NoPermissionError as error:
        raise RedisUnavailable(f"Redis at {redact(url)} denies this user a command: {error}") from error
    except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
        raise RedisUnavailable(
            f"Redis at {redact(url)} cannot be reached ({error}): is it running, and is "
            "STANCHION_REDIS_URL right?"
        ) from error
    except exceptions.RedisError as error:
        # READONLY after a fail-over, MISCONF, OOM: the server is there and says what is wrong.
        raise RedisUnavailable(f"Redis at {redact(url)} refused: {error}") from error
