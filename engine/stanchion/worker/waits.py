"""Waking without polling: one blocked move per queue, each on a connection of its own.

A wait moves the job at a queue's head into this child's inbox, which is part of its lease, and rings. The
bell says no more than "make a trip": the trip finds the job in the inbox. So a lost reply loses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from random import Random

import redis.asyncio
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from stanchion.store import keys
from stanchion.worker.backoff import Outage

BLOCK_SECONDS = 5
"""Below the time after which a silent process is recovered, so that no move outlives its inbox for long."""
CONNECT_SECONDS = 5.0
"""These connections have no time-out of their own, and a server that accepts and is silent rings nobody."""
REPLY_GRACE_SECONDS = 2.0
UNBLOCK_RETRY_SECONDS = 0.02

log = logging.getLogger("stanchion.worker")


class Waits:
    """All waits of one child. `control` is the connection that may end them; `ring` is called on a bell."""

    def __init__(
        self,
        waiting: redis.asyncio.Redis,
        control: redis.asyncio.Redis,
        incarnation: str,
        queues: Iterable[str],
        ring: Callable[[], None],
        rng: Random,
    ) -> None:
        self._waits = {
            queue: _Wait(waiting, control, queue, keys.inbox(incarnation, queue), ring, rng)
            for queue in queues
        }

    async def only(self, queues: frozenset[str]) -> None:
        """Wait on exactly these queues: begin where no wait stands, end the others and see them end."""
        for queue, wait in self._waits.items():
            if queue in queues:
                wait.begin()
        surplus = [wait for queue, wait in self._waits.items() if queue not in queues and wait.is_blocked]
        for queue, wait in self._waits.items():
            if queue not in queues:
                wait.disarm()
        if surplus:
            await asyncio.gather(*(wait.end() for wait in surplus))

    def try_again(self) -> None:
        """Redis is back: a wait that failed while it was away begins anew now."""
        for wait in self._waits.values():
            wait.try_again()

    async def close(self) -> None:
        """End all waits and their connections."""
        await asyncio.gather(*(wait.close() for wait in self._waits.values()))


class _Wait:
    def __init__(
        self,
        waiting: redis.asyncio.Redis,
        control: redis.asyncio.Redis,
        queue: str,
        inbox: str,
        ring: Callable[[], None],
        rng: Random,
    ) -> None:
        self._pool = waiting.connection_pool
        self._control = control
        self._move = ("BLMOVE", keys.queue(queue), inbox, "RIGHT", "LEFT", BLOCK_SECONDS)
        self._ring = ring
        self._outage = Outage(log, f"waiting for jobs of queue {queue}", rng)
        self._armed = asyncio.Event()
        self._retry = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._connection: AbstractConnection | None = None
        self._client_id = 0
        self._task: asyncio.Task[None] | None = None

    @property
    def is_blocked(self) -> bool:
        return not self._idle.is_set()

    def begin(self) -> None:
        self._armed.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    def disarm(self) -> None:
        self._armed.clear()

    def try_again(self) -> None:
        self._retry.set()

    async def end(self) -> None:
        """Unblock until the wait has ended: the first try may come before Redis saw it block."""
        while self.is_blocked:
            try:
                await self._control.client_unblock(self._client_id)
            except (RedisError, OSError):
                # Denied, or Redis is away: closing our side ends the wait as well.
                await self._hang_up()
            # Not wait_for: on Python 3.11 it can swallow the cancel that ends a drain.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(UNBLOCK_RETRY_SECONDS):
                    await self._idle.wait()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._hang_up()

    async def _run(self) -> None:
        while True:
            await self._armed.wait()
            try:
                connection = await self._connected()
                if not self._armed.is_set():
                    continue
                self._idle.clear()
                moved = await self._block(connection)
            except (RedisError, OSError) as error:
                await self._hang_up()
                self._idle.set()
                # A job may have been moved although the reply was lost: have the next trip look.
                self._ring()
                self._retry.clear()
                await self._outage.wait(error, self._retry)
                continue
            self._idle.set()
            self._outage.over()
            if moved:
                self._armed.clear()
                self._ring()

    async def _block(self, connection: AbstractConnection) -> bool:
        async with asyncio.timeout(BLOCK_SECONDS + REPLY_GRACE_SECONDS):
            await connection.send_command(*self._move)
            return await connection.read_response() is not None

    async def _connected(self) -> AbstractConnection:
        if self._connection is None:
            async with asyncio.timeout(CONNECT_SECONDS):
                self._connection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
                await self._connection.send_command("CLIENT", "ID")
                self._client_id = await self._connection.read_response()
        return self._connection

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)
            await self._pool.release(connection)
