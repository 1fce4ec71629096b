"""One Redis server: asked through one door that survives its absence and notices its forgetting."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import redis.asyncio
from redis.exceptions import RedisError, ResponseError

from stanchion.errors import RedisUnavailable
from stanchion.store import config, connection
from stanchion.store.redis_url import RedisUrl
from stanchion_operator.errors import Unreachable

T = TypeVar("T")

ASK_TIMEOUT_SECONDS = 3.0
REST_SECONDS = 3.0
"""After a failure everybody fails at once for so long: a dead Redis must not hold up other policies."""


class Server:
    """A client for one URL. `place` tells whether two references lead to the same database."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.url = url
        self._client = connection.connect_async(
            url, timeout_seconds=ASK_TIMEOUT_SECONDS, name="stanchion-operator"
        )
        self._clock = clock
        self._rests_until = 0.0
        self._trouble = ""
        self._run_id = ""
        self._had_config = False

    @property
    def address(self) -> str:
        """Host and port, or what stands for them, without credentials."""
        return RedisUrl.parse(self.url).address

    @property
    def label(self) -> str:
        """What the status shows: which life of which server."""
        return f"{self._run_id[:8] or 'unknown'} / {self.address}"

    @property
    def place(self) -> tuple[str, int]:
        """The same for two URLs of one database, once it was reached; else as the URL has it."""
        database = int(self._client.connection_pool.connection_kwargs.get("db") or 0)
        return (self._run_id or self.address, database)

    async def ask(self, question: Callable[[redis.asyncio.Redis], Awaitable[T]]) -> T:
        """The answer to one short question. Raises Unreachable for every way in which there is none."""
        if self._clock() < self._rests_until:
            raise Unreachable("RedisUnreachable", self._trouble)
        try:
            with connection.readable_errors(self.url):
                async with asyncio.timeout(ASK_TIMEOUT_SECONDS):
                    return await question(self._client)
        except (RedisError, RedisUnavailable, TimeoutError, OSError) as error:
            trouble = str(error) or f"Redis at {self.address} did not answer in {ASK_TIMEOUT_SECONDS} s"
            if not isinstance(error.__cause__ or error, ResponseError):
                # A refused command (one key of a wrong type) is that policy's trouble, not the server's.
                self._trouble, self._rests_until = trouble, self._clock() + REST_SECONDS
            raise Unreachable("RedisUnreachable", trouble) from error

    async def meet(self) -> None:
        """Learn which server this is, if it was never reached: `place` and `label` depend on it."""
        if not self._run_id:
            await self.look()

    async def look(self) -> bool:
        """Whether the server has lost our config since the last look: emptied, restarted or replaced."""
        run_id, epoch = await self.ask(_run_id_and_epoch)
        restarted = bool(self._run_id) and run_id != self._run_id
        emptied = self._had_config and not epoch
        self._run_id, self._had_config = run_id, bool(epoch)
        return restarted or emptied

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def url_digest(secret_uid: str, url: str) -> str:
    """Changes when the URL does, and tells nobody who cannot read the Secret anything about it."""
    return hashlib.sha256(f"{secret_uid}\n{url}".encode()).hexdigest()[:16]


async def _run_id_and_epoch(client: redis.asyncio.Redis) -> tuple[str, str]:
    info = await client.info("server")
    return str(info["run_id"]), await config.epoch(client)
