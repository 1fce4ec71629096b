"""Loads a Lua script and runs it by its digest, surviving a Redis that has forgotten it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import redis
import redis.asyncio
from redis.exceptions import NoScriptError

from stanchion.store.direct import AsyncDirect, Direct

Key = str | bytes
Argument = str | bytes | int | float
Client = redis.Redis | Direct
AsyncClient = redis.asyncio.Redis | AsyncDirect


class Script:
    """One file under `lua/`. EVALSHA first; EVAL after NOSCRIPT (restart, fail-over, SCRIPT FLUSH)."""

    __slots__ = ("name", "sha", "source")

    def __init__(self, name: str) -> None:
        self.name = name
        self.source = files("stanchion.store").joinpath("lua", f"{name}.lua").read_text("utf-8")
        self.sha = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()

    def run(self, client: Client, keys: Sequence[Key], args: Sequence[Argument]) -> Any:
        """Run on a blocking client; the reply is as redis-py gives it (bytes, int, list)."""
        try:
            return client.evalsha(self.sha, len(keys), *keys, *args)
        except NoScriptError:
            return client.eval(self.source, len(keys), *keys, *args)

    async def arun(self, client: AsyncClient, keys: Sequence[Key], args: Sequence[Argument]) -> Any:
        """Run on an asyncio client; otherwise as `run`."""
        try:
            return await client.evalsha(self.sha, len(keys), *keys, *args)
        except NoScriptError:
            return await client.eval(self.source, len(keys), *keys, *args)
