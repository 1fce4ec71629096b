"""Pushes the same jobs to both queues: through the gate, and as a bare LPUSH."""

from __future__ import annotations

import time

import redis.asyncio

from stanchion.app import App
from stanchion.dev.demo import ledger
from stanchion.dev.demo.app import GATED, JOB_NAME, PLAIN
from stanchion.job import Job, new_jid
from stanchion.store import keys


class Load:
    """The producer of both sides."""

    def __init__(self, client: redis.asyncio.Redis, redis_url: str) -> None:
        self._client = client
        self._app = App(redis_url)

    async def push(self, jobs: int, seconds: float) -> None:
        """Push so many jobs, each of which takes `seconds`, to either queue."""
        await self._push_plain(jobs, seconds)
        await self._push_gated(jobs, seconds)

    async def _push_gated(self, jobs: int, seconds: float) -> None:
        calls = (self._app.call(JOB_NAME, [seconds], queue=GATED) for _ in range(jobs))
        verdicts = await self._app.aenqueue_many(calls)
        await ledger.record_push(self._client, GATED, [v.jid for v in verdicts if v.accepted])

    async def _push_plain(self, jobs: int, seconds: float) -> None:
        now = time.time()
        payloads = [
            Job.create(JOB_NAME, [seconds], queue=PLAIN, jid=new_jid(), retry=True, now=now).replace(
                enqueued_at=now
            )
            for _ in range(jobs)
        ]
        await ledger.record_push(self._client, PLAIN, [job.jid for job in payloads])
        await self._client.lpush(keys.queue(PLAIN), *(job.dump() for job in payloads))
