"""Every Redis that policies name: a reference becomes a Secret, a Secret a URL, a URL one shared server."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stanchion.errors import InvalidSettings
from stanchion.policy.queue_policy import RedisRef
from stanchion.store import connection
from stanchion_operator.errors import Missing, SpecRefused
from stanchion_operator.redis_config.server import Server, url_digest

ReadSecret = Callable[[str, str], Awaitable[Mapping[str, Any] | None]]
"""Namespace and name to the Secret, or None if there is none."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A policy's Redis, resolved: the server and where its URL stands."""

    server: Server
    secret_name: str
    secret_key: str
    digest: str


class Servers:
    """Servers by URL, made when first named."""

    def __init__(self, read_secret: ReadSecret, default_name: str, allowed_names: frozenset[str]) -> None:
        self._read_secret = read_secret
        self._default_name = default_name
        self._allowed_names = allowed_names
        self._by_url: dict[str, Server] = {}

    async def resolve(self, namespace: str, reference: RedisRef | None) -> Reference:
        """The server of a policy in `namespace`.

        Raises SpecRefused for a Secret nobody allowed, Missing while there is no URL under its key.
        """
        name = reference.secret_name if reference else self._default_name
        key = reference.key if reference else "url"
        if name not in self._allowed_names:
            allowed = ", ".join(sorted(self._allowed_names))
            raise SpecRefused(
                "SecretNotAllowed", f"Secret {name} is not among the operator's Redis Secrets ({allowed})"
            )
        secret = await self._read_secret(namespace, name)
        if secret is None:
            raise Missing("SecretMissing", f"there is no Secret {name} in namespace {namespace}")
        url = _url(secret, name, key)
        if url not in self._by_url:
            self._by_url[url] = Server(url)
        return Reference(self._by_url[url], name, key, url_digest(secret["metadata"]["uid"], url))

    def all(self) -> list[Server]:
        """Every server in use."""
        return list(self._by_url.values())

    async def keep_only(self, used: set[Server]) -> None:
        """Close the servers that no policy leads to any more: an old password, another address."""
        for server in self.all():
            if server not in used:
                del self._by_url[server.url]
                await server.close()

    async def close(self) -> None:
        """Close everything."""
        await self.keep_only(set())


def _url(secret: Mapping[str, Any], name: str, key: str) -> str:
    encoded = (secret.get("data") or {}).get(key)
    if not encoded:
        raise Missing("SecretMissing", f"Secret {name} has no key {key}")
    try:
        url = base64.b64decode(encoded, validate=True).decode().strip()
        connection.check_url(url)
    except (binascii.Error, UnicodeDecodeError, InvalidSettings) as error:
        raise Missing("InvalidRedisUrl", f"Secret {name}, key {key}: {error}") from None
    return url
