"""Queues with waiting jobs that nothing here declares: no worker will come for them, so they must be seen.

Called by the runner every tick. Reads only; what to do about them is the view's to say.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import redis.asyncio

from stanchion.dev.group import LEAD_SECONDS
from stanchion.dev.status import QueueStatus
from stanchion.scaling.facts import QueueFacts
from stanchion.store import keys
from stanchion.store.facts import sample

MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Strays:
    """The longest of them, and how many more hold jobs."""

    shown: tuple[QueueStatus, ...] = ()
    further: int = 0


async def find(client: redis.asyncio.Redis, declared: Set[str]) -> Strays:
    """Every queue known to Redis but the `declared` ones; a queue that some live process serves is none.

    Raises redis-py's errors.
    """
    known: Any = await client.smembers(keys.QUEUES)
    names = sorted({name.decode(errors="replace") for name in known} - declared)
    async with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.llen(keys.queue(name))
        lengths = await pipeline.execute(raise_on_error=False)
    waiting = {name: n for name, n in zip(names, lengths, strict=True) if isinstance(n, int) and n}
    longest = sorted(waiting, key=lambda name: -waiting[name])
    looked_at = [await sample(client, name, lead_seconds=LEAD_SECONDS) for name in longest[:MOST_SHOWN]]
    return Strays(
        tuple(_status(facts) for facts in looked_at if not facts.processes), len(longest[MOST_SHOWN:])
    )


def _status(facts: QueueFacts) -> QueueStatus:
    return QueueStatus(
        queue=facts.queue,
        target_seconds=None,
        running=0,
        wanted=0,
        age_seconds=facts.oldest_age_seconds,
        waiting=facts.waiting,
        busy=facts.busy,
        paused=facts.paused,
        runs_here=False,
    )
