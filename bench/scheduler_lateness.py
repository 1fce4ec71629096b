"""How late due jobs become ready: 150 schedulers, 100,000 members in `retry`, and leaders that die.

    python bench/scheduler_lateness.py [--processes 150] [--retries 100000] [--seconds 10]

Every scheduler is a worker's own, on a connection of its own; all share this process, which costs them more
than a process each would. Ten jobs a second fall due. The lease is held by a dead process when the run
begins, and is taken by another dead one every third second. Prints one line; ours to promise: p99 below 1 s.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import redis
import redis.asyncio

from stanchion.dev.redis_server import RedisServer
from stanchion.metrics import Tally
from stanchion.store import connection, keys
from stanchion.worker.lead import LEAD_SECONDS
from stanchion.worker.life import Life
from stanchion.worker.options import QueueWeight, WorkerOptions
from stanchion.worker.scheduler import Scheduler

OPTIONS = WorkerOptions("bench:app", (QueueWeight("bench"),))
DUE_PER_SECOND = 10
DEATH_EVERY_SECONDS = 3.0
PATIENCE_SECONDS = 30.0
SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}


def payload(jid: str) -> str:
    return json.dumps({"class": "A", "jid": jid, "queue": "bench", "args": [], "retry": True})


def prepare(client: redis.Redis, processes: int, retries: int, seconds: int) -> dict[str, float]:
    """Fill the sets. Returns when each job falls due, by its id."""
    now = time.time()
    client.sadd(keys.PROCESSES, *(f"bench:{number}:a" for number in range(processes)))
    for start in range(0, retries, 10_000):
        jids = range(start, min(start + 10_000, retries))
        client.zadd(keys.RETRY, {payload(f"retry{jid}"): now + 3600 for jid in jids})
    first = time.time() + 1
    due = {str(number): first + number / DUE_PER_SECOND for number in range(seconds * DUE_PER_SECOND)}
    client.zadd(keys.SCHEDULE, {payload(jid): at for jid, at in due.items()})
    return due


async def kill_leaders(client: redis.Redis) -> None:
    """Each time the lease is as a killed leader leaves it: held, and never renewed."""
    while True:
        client.set(keys.SCHEDULER_LEADER, "killed", px=int(LEAD_SECONDS * 1000))
        await asyncio.sleep(DEATH_EVERY_SECONDS)


async def run(url: str, client: redis.Redis, processes: int) -> None:
    """Until nothing is left that will fall due."""
    async with AsyncExitStack() as stack:
        tasks = [asyncio.create_task(kill_leaders(client))]
        for number in range(processes):
            own = await stack.enter_async_context(connection.connect_async(url))
            life = Life(OPTIONS, own, Tally(), identity=f"bench:{number}:a")
            tasks.append(asyncio.create_task(Scheduler(life).run()))
        async with asyncio.timeout(PATIENCE_SECONDS + processes):
            while client.exists(keys.SCHEDULE):  # noqa: ASYNC110 - Redis tells nobody
                await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def lateness(client: redis.Redis, due: dict[str, float]) -> list[float]:
    """Seconds each job was ready after it was due, in order."""
    ready: list[Any] = client.lrange(keys.queue("bench"), 0, -1)
    jobs = [json.loads(member) for member in ready]
    return sorted(job["enqueued_at"] - due[job["jid"]] for job in jobs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--processes", type=int, default=150)
    parser.add_argument("--retries", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=10)
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        RedisServer(Path(folder)) as server,
        connection.connect(server.url) as client,
    ):
        due = prepare(client, args.processes, args.retries, args.seconds)
        asyncio.run(run(server.url, client, args.processes))
        late = lateness(client, due)
    shares = {name: late[min(len(late) - 1, int(len(late) * share))] for name, share in SHARES.items()}
    figures = "  ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in shares.items())
    sys.stdout.write(
        f"{len(late)} jobs, {args.processes} schedulers, {args.retries} waiting in retry: {figures}\n"
    )


if __name__ == "__main__":
    main()
