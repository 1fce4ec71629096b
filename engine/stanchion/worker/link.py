"""The talk between a supervisor and one child: JSON, each message after its length, over a socket pair.

The length comes first because a status carries the payloads of all running jobs: a line would need a limit,
and a message over it would end the talk. The end of the stream means that the other side has gone. Nothing
here waits for the other side to read.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Mapping
from typing import Any

LENGTH_BYTES = 8
MAX_UNREAD_BYTES = 4 * 1024 * 1024


class Link:
    """One side of the talk."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, end: socket.socket) -> Link:
        """Over one end of a connected socket pair, which the link owns from now on."""
        end.setblocking(False)
        return cls(*await asyncio.open_connection(sock=end))

    @property
    def is_choked(self) -> bool:
        """The other side does not read: what can be said later should be."""
        return self._writer.transport.get_write_buffer_size() > MAX_UNREAD_BYTES

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue one message. To a side that has gone it is dropped."""
        if not self._writer.is_closing():
            body = json.dumps(message).encode()
            self._writer.write(len(body).to_bytes(LENGTH_BYTES) + body)

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Every message until the other side has gone."""
        while True:
            try:
                length = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES))
                body = await self._reader.readexactly(length)
            except (ConnectionError, asyncio.IncompleteReadError):
                return
            yield json.loads(body)

    async def flush(self) -> None:
        """Wait until what was sent has left this process, or the other side has gone."""
        self._writer.transport.set_write_buffer_limits(high=0)
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    def close(self) -> None:
        """Hang up."""
        self._writer.close()
