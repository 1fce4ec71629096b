"""One call on its way to Redis: what to send, what a reply means, and whether an error is worth a repeat.

Shared by the blocking and the asyncio client, which do the sending and the waiting. No I/O here.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Sequence

from redis import exceptions
from redis.exceptions import RedisError

from stanchion.errors import RedisUnavailable, StanchionError
from stanchion.gate.push import Intent, View, plan, verdict
from stanchion.lane import Lane
from stanchion.store.connection import readable_errors, redact
from stanchion.store.enqueue import EnqueueRequest, LaneTaken, Recorded, Reply
from stanchion.verdict import Verdict

FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 1.0
NEVER_SENT = (ConnectionRefusedError, FileNotFoundError, socket.gaierror)
"""Causes of a ConnectionError that say no connection was made."""


class Delivery:
    """State of one call: its lane, its intents, and its deadline on the caller's monotonic clock."""

    def __init__(
        self,
        intents: Sequence[Intent],
        lane: Lane,
        *,
        url: str,
        deadline: float,
        jid_memory_seconds: int,
    ) -> None:
        self.intents = intents
        self.lane = lane
        self.deadline = deadline
        self._url = url
        self._jid_memory_seconds = jid_memory_seconds
        self._repeats = 0
        self._may_be_recorded = False

    def request(self, view: View) -> EnqueueRequest:
        """What to send, again and again until it is answered: the same number and the same jids."""
        return EnqueueRequest(
            lane=self.lane.nonce,
            number=self.lane.number,
            epoch=view.epoch,
            items=plan(self.intents, view),
            jid_memory_seconds=self._jid_memory_seconds,
        )

    def read(self, reply: Reply) -> list[Verdict] | None:
        """The verdicts, or None if the call was not recorded and must be sent again."""
        if isinstance(reply, Recorded):
            pairs = zip(self.intents, reply.answers, strict=True)
            return [verdict(intent, answer) for intent, answer in pairs]
        if isinstance(reply, LaneTaken):
            self.lane.renew()
            self.lane.advance()
        return None

    def pause_after_reply(self, now: float) -> float:
        """Seconds to wait before a call that was not recorded is sent again: none the first time.

        Raises RedisUnavailable past the deadline.
        """
        self._repeats += 1
        pause = 0.0 if self._repeats == 1 else self._backoff()
        if now + pause >= self.deadline:
            raise RedisUnavailable(
                f"Redis at {redact(self._url)} holds a configuration that could not be read in time; "
                "nothing was enqueued. The log of stanchion.config says why"
            )
        return pause

    def pause_after_error(self, error: RedisError, now: float) -> float:
        """Seconds to wait before the repeat. Raises RedisUnavailable or StanchionError when a repeat cannot
        help or the deadline has passed.
        """
        if isinstance(error, exceptions.OutOfMemoryError):
            raise RedisUnavailable(
                f"Redis at {redact(self._url)} is full and refuses new jobs; raise maxmemory or drain a queue"
            ) from error
        with readable_errors(self._url):
            if isinstance(error, (exceptions.AuthenticationError, exceptions.NoPermissionError)):
                raise error
        if not _may_pass(error):
            raise StanchionError(f"Redis at {redact(self._url)} refused the call: {error}") from error
        self._repeats += 1
        self._may_be_recorded |= not isinstance(error.__context__, NEVER_SENT)
        pause = self._backoff()
        if now + pause >= self.deadline:
            raise self._given_up(error) from error
        return pause

    def _backoff(self) -> float:
        ceiling = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2**self._repeats)
        return random.uniform(FIRST_PAUSE_SECONDS, ceiling)

    def _given_up(self, error: RedisError) -> RedisUnavailable:
        if self._may_be_recorded:
            what = "gave no answer in time"
            fate = "Whether the call was recorded is unknown: send it again with the same jid= to be sure"
        else:
            what, fate = "cannot be reached", "Nothing was enqueued"
        return RedisUnavailable(
            f"Redis at {redact(self._url)} {what} ({error}). Is it running, and is "
            f"STANCHION_REDIS_URL right? {fate}"
        )


def _may_pass(error: RedisError) -> bool:
    """Whether waiting may help: the link broke, Redis is loading, or a fail-over made it read-only."""
    return isinstance(error, (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.ReadOnlyError))
