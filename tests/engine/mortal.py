"""A Redis client whose process is killed between two of its commands."""

from __future__ import annotations

from typing import Any

import redis.asyncio


class Killed(Exception):
    """The process has ended here."""


class Mortal:
    """Passes `commands` commands, then dies: before the next one is sent or, if `is_sent`, before its reply.

    What Redis carried out stays carried out, as after a SIGKILL. It has the methods of the client.
    """

    def __init__(self, client: redis.asyncio.Redis, commands: int, *, is_sent: bool) -> None:
        self._client = client
        self._left = commands
        self._is_sent = is_sent

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        async def send(*args: Any, **kwargs: Any) -> Any:
            if self._left == 0:
                if self._is_sent:
                    await method(*args, **kwargs)
                raise Killed
            self._left -= 1
            return await method(*args, **kwargs)

        return send
