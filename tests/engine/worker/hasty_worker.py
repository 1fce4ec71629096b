"""A worker that beats fast and declares the others dead soon: `python hasty_worker.py MODULE:APP QUEUE`."""

from __future__ import annotations

import sys

from stanchion.worker import supervisor
from stanchion.worker.options import QueueWeight, WorkerOptions

if __name__ == "__main__":
    options = WorkerOptions(
        app=sys.argv[1],
        queues=(QueueWeight(sys.argv[2]),),
        concurrency=10,
        drain_timeout_seconds=2.0,
        beat_seconds=0.5,
        dead_after_seconds=3.0,
    )
    sys.exit(supervisor.run(options))
