"""Hears at once that a queue was paused or a configuration changed, which the next beat would notice anyway,
and that a running job should be cancelled.

Called by the supervisor, once for all its children.
"""

from __future__ import annotations

import logging

from redis.exceptions import RedisError

from stanchion.store import connection, keys
from stanchion.worker.backoff import Outage
from stanchion.worker.crew import Crew
from stanchion.worker.life import Life

log = logging.getLogger("stanchion.worker")


async def follow(life: Life, crew: Crew, redis_url: str) -> None:
    """Pass every announcement on to the children, until cancelled."""
    outage = Outage(log, "listening for announcements", life.rng)
    async with connection.connect_async(redis_url, timeout_seconds=None, name="stanchion-listen") as client:
        while True:
            try:
                async with client.pubsub(ignore_subscribe_messages=True) as channels:
                    await channels.subscribe(keys.PAUSE_CHANNEL, keys.CONFIG_CHANNEL, keys.CANCEL_CHANNEL)
                    # What was said before we listened is lost: look once.
                    crew.look()
                    outage.over()
                    async for said in channels.listen():
                        if said["channel"].decode() == keys.CANCEL_CHANNEL:
                            crew.cancel(said["data"].decode(errors="replace"))
                        else:
                            crew.look()
            except (RedisError, OSError) as error:
                await outage.wait(error)
