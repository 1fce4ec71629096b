"""The comparison: a worker as it is often written. It pops a job, then runs it.

Run by the demo as a process of its own, on the plain queue. Between the pop and the end of the job nothing
but this process knows of it, so a kill loses what it holds. That is the point: it is not to be improved.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from stanchion.dev.demo import ledger
from stanchion.dev.demo.app import PLAIN
from stanchion.job import Job
from stanchion.settings import Settings
from stanchion.store import connection, keys

POP_TIMEOUT_SECONDS = 2


async def serve(redis_url: str, slots: int) -> None:
    """Run `slots` loops until the process is ended."""
    async with connection.connect_async(redis_url, timeout_seconds=None, name="plain-worker") as client:

        async def loop() -> None:
            while True:
                popped: Any = await client.brpop([keys.queue(PLAIN)], timeout=POP_TIMEOUT_SECONDS)
                if popped is not None:
                    job = Job.parse(popped[1])
                    await asyncio.sleep(job.args[0])
                    await ledger.record_run(client, PLAIN, job.jid)

        await asyncio.gather(*(loop() for _ in range(slots)))


if __name__ == "__main__":
    asyncio.run(serve(Settings.from_environ().redis_url, int(sys.argv[1])))
