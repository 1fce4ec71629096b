"""Waiting after failures: longer each time, with jitter, and one log line when trouble begins and ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from random import Random

FIRST_SECONDS = 0.05
LAST_SECONDS = 5.0


class Outage:
    """The failures in a row of one loop that talks to Redis. Not shared between loops."""

    def __init__(self, log: logging.Logger, what: str, rng: Random) -> None:
        self._log = log
        self._what = what
        self._rng = rng
        self._failures = 0

    async def wait(self, error: BaseException, wake: asyncio.Event | None = None) -> None:
        """Note a failure, then sleep: 50 ms doubling to 5 s, times a random 0.5 to 1.

        `wake` cuts the sleep short when it becomes set; one that is set already does not.
        """
        if self._failures == 0:
            self._log.warning("%s failed, trying again until it works: %s", self._what, in_words(error))
        self._failures += 1
        pause_seconds = delay_seconds(self._failures, self._rng)
        if wake is None or wake.is_set():
            await asyncio.sleep(pause_seconds)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause_seconds):
                await wake.wait()

    def over(self) -> bool:
        """Note a success. Whether there were failures before it."""
        failures, self._failures = self._failures, 0
        if failures:
            plural = "" if failures == 1 else "s"
            self._log.warning("%s works again after %d failure%s", self._what, failures, plural)
        return failures > 0


def in_words(error: BaseException) -> str:
    """What an error says. A time-out says nothing, and a line must not end in nothing."""
    return str(error) or ("no answer in time" if isinstance(error, TimeoutError) else type(error).__name__)


def delay_seconds(failures: int, rng: Random, last_seconds: float = LAST_SECONDS) -> float:
    """The pause after so many failures in a row."""
    longest = min(last_seconds, FIRST_SECONDS * 2.0 ** min(failures - 1, 16))
    return longest * rng.uniform(0.5, 1.0)
