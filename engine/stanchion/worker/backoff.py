"""Waiting after failures: longer each time, with jitter, and one log line when trouble begins and ends."""

from __future__ import annotations

import asyncio
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

    async def wait(self, error: BaseException) -> None:
        """Note a failure, then sleep: 50 ms doubling to 5 s, times a random 0.5 to 1."""
        if self._failures == 0:
            self._log.warning("%s failed, trying again until it works: %s", self._what, error)
        self._failures += 1
        await asyncio.sleep(delay_seconds(self._failures, self._rng))

    def over(self) -> None:
        """Note a success."""
        if self._failures:
            self._log.warning("%s works again after %d failures", self._what, self._failures)
        self._failures = 0


def delay_seconds(failures: int, rng: Random, last_seconds: float = LAST_SECONDS) -> float:
    """The pause after so many failures in a row."""
    longest = min(last_seconds, FIRST_SECONDS * 2.0 ** min(failures - 1, 16))
    return longest * rng.uniform(0.5, 1.0)
