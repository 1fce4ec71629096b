"""Sends calls to Redis: one script call each, repeated under the same number until answered.

The App calls it. Blocking and asyncio callers share lanes and configuration; connections belong to one
process and, for asyncio, to one event loop. Policy is the gate's, not this file's.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace

from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError, RedisError
from redis.retry import Retry

from stanchion.call import Call
from stanchion.delivery import Delivery
from stanchion.errors import InvalidArguments, RedisUnavailable
from stanchion.gate.config import ConfigCache
from stanchion.gate.push import Intent
from stanchion.lane import Lane, LanePool
from stanchion.middleware.client import ClientMiddleware, apply
from stanchion.settings import Settings
from stanchion.store import connection
from stanchion.store.direct import AsyncDirect, Direct
from stanchion.store.enqueue import Reconfig, aenqueue, enqueue
from stanchion.store.ruby_processes import RubyProcesses
from stanchion.verdict import Verdict

MAX_IN_FLIGHT = 16
"""Calls one process (or one event loop) has on the wire at once; more wait their turn."""
CHUNK_JOBS = 200
"""Jobs in one script call: 1,000 would block Redis for tens of milliseconds."""
CHUNK_BYTES = 1024 * 1024
"""Arguments in one script call, unless a single job has more."""
LOOK_SECONDS = 60.0
"""How long the versions of the Ruby processes are taken for the same."""
ATTEMPTS_IN_TIME = 2
"""A silent connection is given up after this share of the whole time-out, so that a repeat fits in."""


class _AsyncSide:
    """What belongs to one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.redis = connection.connect_async(
            settings.redis_url, timeout_seconds=settings.client_timeout_seconds / ATTEMPTS_IN_TIME
        )
        self.redis.set_retry(AsyncRetry(NoBackoff(), 0))
        self.direct = AsyncDirect(self.redis)
        self.turns = asyncio.Semaphore(MAX_IN_FLIGHT)


class Client:
    """The clients of one process. No I/O until the first push."""

    def __init__(self, settings: Settings, middleware: Sequence[ClientMiddleware] = ()) -> None:
        self._settings = settings
        self._middleware = middleware
        self._lanes = LanePool()
        self._config = ConfigCache()
        self._turns = threading.Semaphore(MAX_IN_FLIGHT)
        self._answered_at = self._gave_up_at = float("-inf")
        self._redis = connection.connect(
            settings.redis_url, timeout_seconds=settings.client_timeout_seconds / ATTEMPTS_IN_TIME
        )
        # Repeats are ours: redis-py's own would not know the deadline.
        self._redis.set_retry(Retry(NoBackoff(), 0))
        self._direct = Direct(self._redis)
        self._ruby = RubyProcesses(settings.wire)
        self._look_at = float("-inf")
        self._sides: dict[asyncio.AbstractEventLoop, _AsyncSide] = {}

    def push(self, call: Call) -> Verdict:
        """Send one call. Raises RedisUnavailable within the client time-out."""
        deadline = self._deadline()
        self._look()
        return self._deliver([self._intent(call)], deadline)[0]

    async def apush(self, call: Call) -> Verdict:
        """As `push`, on the running event loop."""
        deadline = self._deadline()
        await self._alook()
        return (await self._adeliver([self._intent(call)], deadline))[0]

    def push_many(self, calls: Iterable[Call]) -> list[Verdict]:
        """Send calls in chunks, in order. The time-out counts for each chunk."""
        self._look()
        return [
            verdict for chunk in self._chunks(calls) for verdict in self._deliver(chunk, self._deadline())
        ]

    async def apush_many(self, calls: Iterable[Call]) -> list[Verdict]:
        """As `push_many`, on the running event loop."""
        await self._alook()
        return [
            verdict
            for chunk in self._chunks(calls)
            for verdict in await self._adeliver(chunk, self._deadline())
        ]

    def _chunks(self, calls: Iterable[Call]) -> Iterator[list[Intent]]:
        """Cut into chunks one script call may carry, taking from `calls` no faster than they are sent."""
        chunk: list[Intent] = []
        size_bytes = 0
        for call in calls:
            if not isinstance(call, Call):
                raise InvalidArguments(
                    f"a bulk call takes calls, such as job.call(7) makes, not {type(call).__name__}"
                )
            if chunk and (len(chunk) == CHUNK_JOBS or size_bytes + call.size_bytes > CHUNK_BYTES):
                yield chunk
                chunk, size_bytes = [], 0
            chunk.append(self._intent(call))
            size_bytes += call.size_bytes
        if chunk:
            yield chunk

    def _intent(self, call: Call) -> Intent:
        intent = Intent.of(call, time.time(), self._ruby.dialect)
        return replace(intent, changed=apply(self._middleware, intent.job)) if self._middleware else intent

    def _deliver(self, intents: Sequence[Intent], deadline: float) -> list[Verdict]:
        with self._turn() as lane:
            delivery = self._delivery(intents, lane, deadline)
            while True:
                try:
                    reply = enqueue(self._direct, delivery.request(self._config.view))
                    if isinstance(reply, Reconfig):
                        self._config.refresh(self._redis)
                except RedisError as error:
                    if isinstance(error, ReadOnlyError):
                        self._direct.hang_up()
                    time.sleep(delivery.pause_after_error(error, time.monotonic()))
                    continue
                verdicts = delivery.read(reply)
                if verdicts is not None:
                    return verdicts
                time.sleep(delivery.pause_after_reply(time.monotonic()))

    async def _adeliver(self, intents: Sequence[Intent], deadline: float) -> list[Verdict]:
        side = self._side()
        async with self._aturn(side) as lane:
            delivery = self._delivery(intents, lane, deadline)
            while True:
                try:
                    reply = await aenqueue(side.direct, delivery.request(self._config.view))
                    if isinstance(reply, Reconfig):
                        await self._config.arefresh(side.redis)
                except RedisError as error:
                    if isinstance(error, ReadOnlyError):
                        await side.direct.hang_up()
                    await asyncio.sleep(delivery.pause_after_error(error, time.monotonic()))
                    continue
                verdicts = delivery.read(reply)
                if verdicts is not None:
                    return verdicts
                await asyncio.sleep(delivery.pause_after_reply(time.monotonic()))

    def _deadline(self) -> float:
        return time.monotonic() + self._settings.client_timeout_seconds

    def _look(self) -> None:
        """See now and then which Sidekiq versions read what we write. If that fails, the call itself will say
        so, or find Redis back; what was seen last holds.
        """
        if self._is_time_to_look():
            with suppress(RedisError):
                self._ruby.refresh(self._redis)

    async def _alook(self) -> None:
        if self._is_time_to_look():
            with suppress(RedisError):
                await self._ruby.arefresh(self._side().redis)

    def _is_time_to_look(self) -> bool:
        now = time.monotonic()
        if self._ruby.is_fixed or now < self._look_at:
            return False
        self._look_at = now + LOOK_SECONDS
        return True

    def _delivery(self, intents: Sequence[Intent], lane: Lane, deadline: float) -> Delivery:
        return Delivery(
            intents,
            lane,
            url=self._settings.redis_url,
            deadline=deadline,
            jid_memory_seconds=self._settings.jid_memory_seconds,
        )

    @contextmanager
    def _turn(self) -> Iterator[Lane]:
        asked_at = time.monotonic()
        with self._turns, self._lane(asked_at) as lane:
            yield lane

    @asynccontextmanager
    async def _aturn(self, side: _AsyncSide) -> AsyncIterator[Lane]:
        asked_at = time.monotonic()
        async with side.turns:
            with self._lane(asked_at) as lane:
                yield lane

    @contextmanager
    def _lane(self, asked_at: float) -> Iterator[Lane]:
        """A lane for a call that asked for its turn at `asked_at`, monotonic seconds.

        Who had to wait while another gave up, and nobody was answered, gives up too: otherwise a thousand
        waiting calls would learn in turn, one time-out after the other, that Redis is away.
        """
        if self._gave_up_at > asked_at:
            url = connection.redact(self._settings.redis_url)
            raise RedisUnavailable(f"Redis at {url} does not answer earlier calls; this one was not sent")
        began_at = time.monotonic()
        lane = self._lanes.take()
        try:
            yield lane
            self._answered_at = time.monotonic()
        except RedisUnavailable:
            if self._answered_at < began_at:
                self._gave_up_at = time.monotonic()
            raise
        finally:
            self._lanes.give_back(lane)

    def _side(self) -> _AsyncSide:
        loop = asyncio.get_running_loop()
        side = self._sides.get(loop)
        if side is None:
            for closed in [other for other in tuple(self._sides) if other.is_closed()]:
                self._sides.pop(closed, None)
            side = self._sides[loop] = _AsyncSide(self._settings)
        return side

    def close(self) -> None:
        """Close the blocking connections; the next push opens new ones."""
        self._direct.hang_up()
        self._redis.close()

    async def aclose(self) -> None:
        """Close the running event loop's connections."""
        side = self._sides.pop(asyncio.get_running_loop(), None)
        if side is not None:
            await side.direct.hang_up()
            await side.redis.aclose()
