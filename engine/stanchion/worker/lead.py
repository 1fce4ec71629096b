"""A supervisor's part in the election for one duty: promoting due jobs, or enqueueing periodic ones.

Used by the scheduler and the ticker. A leader that is killed is followed when its lease ends, one that stops
gives it up.
"""

from __future__ import annotations

import logging
import time

from redis.exceptions import RedisError

from stanchion.store import lead as store
from stanchion.worker.life import Life

LEAD_SECONDS = 1.0
"""Jobs that fall due when a leader has just been killed wait this long at most."""
SPREAD_SECONDS = 0.05
"""Followers do not all ask in the same millisecond."""

log = logging.getLogger("stanchion.worker")


class Lead:
    """One duty, named by the key of its lease."""

    def __init__(self, life: Life, lease_key: str, ttl_seconds: float = LEAD_SECONDS) -> None:
        self._life = life
        self._lease_key = lease_key
        self._ttl_seconds = ttl_seconds
        self._ask_at = 0.0

    async def seconds_to_wait(self) -> float:
        """0.0 while this process leads, else how long to wait before asking again.

        A leader asks Redis only when a third of its lease has gone.
        """
        now = time.monotonic()
        if now < self._ask_at:
            return 0.0
        left = await store.lead(self._life.client, self._lease_key, self._life.identity, self._ttl_seconds)
        if left:
            return left + self._life.rng.random() * SPREAD_SECONDS
        self._ask_at = now + self._ttl_seconds / 3
        return 0.0

    async def give_up(self) -> None:
        """Let another lead at once. If Redis is away, the lease ends by itself."""
        try:
            await store.resign(self._life.client, self._lease_key, self._life.identity)
        except (RedisError, OSError) as error:
            log.info("the lead was not given up (%s); it ends within %g s", error, self._ttl_seconds)
