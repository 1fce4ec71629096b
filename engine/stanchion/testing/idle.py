"""Works queues off inside the test's own process: with a real Redis, and all that a worker does to a job.

For tests of what lies in Redis afterwards, such as retries and the dead set. It promotes nothing: what is
scheduled or waits for a retry stays where it is.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

import redis.asyncio

from stanchion.app import App
from stanchion.errors import LeaseLost
from stanchion.gate.config import ConfigCache
from stanchion.job import new_jid
from stanchion.metrics import Tally
from stanchion.store import connection, membership, recovery, trip
from stanchion.store.recovery import Member
from stanchion.store.trip import Ended, Source, Status
from stanchion.worker.execute import Executor
from stanchion.worker.life import new_identity

SLOTS = 10


def run_until_idle(app: App, *queues: str) -> int:
    """Run the jobs that are ready in these queues (default: those its jobs declare), and the ones they
    enqueue there, until none is left. Returns how many attempts ended. Raises redis-py's errors,
    and LeaseLost where a worker that serves the same Redis takes this process for dead: it does not beat.
    """
    with ThreadPoolExecutor(1) as thread:  # there may be an event loop here already
        return thread.submit(asyncio.run, arun_until_idle(app, *queues)).result()


async def arun_until_idle(app: App, *queues: str) -> int:
    """As `run_until_idle`, on the running event loop."""
    names = queues or tuple(sorted({definition.queue for definition in app.registry.values()}))
    member = Member(new_identity(), new_jid(), names)
    async with connection.connect_async(app.settings.redis_url) as client:
        await membership.enlist(client, member.identity)
        await membership.register(client, member.identity, member.incarnation, names)
        try:
            return await _work_off(app, client, member)
        finally:
            await recovery.retire(client, member, counted=False, now=time.time())
            await recovery.leave(client, member.identity)


async def _work_off(app: App, client: redis.asyncio.Redis, member: Member) -> int:
    config = ConfigCache()
    view = await config.arefresh(client)
    policies = {name: view.queue(name) for name in member.queues}
    sources = [Source(name, bool(policy and policy.paused)) for name, policy in policies.items()]
    ended: list[Ended] = []
    attempts = number = 0
    with ThreadPoolExecutor(SLOTS) as threads:
        executor = Executor(app, config, threads, lambda: False, Tally(), Random())
        while True:
            number += 1
            reply = await trip.send(
                client,
                trip.plan(
                    member.incarnation,
                    number,
                    epoch=trip.ANY_EPOCH,
                    free=SLOTS,
                    sources=sources,
                    ended=ended,
                    now=time.time(),
                ),
            )
            if reply.status is not Status.OK:
                raise LeaseLost(
                    f"a worker on this Redis took the test for a dead process ({reply.status}) and has "
                    "its jobs now: give tests a Redis of their own"
                )
            if not reply.jobs:
                return attempts
            ended = await asyncio.gather(*(executor.run(leased) for leased in reply.jobs))
            attempts += len(ended)
