"""A Python client of the benchmark: pushes as its command line says, `MODE COUNT`, and tells its time."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

STAMP_EVERY_SECONDS = 0.01
BULK_JOBS = 1000
UNCOUNTED = -1
"""The first job, pushed before the clock starts: it loads and connects what is made at first use."""


def drive(
    *,
    noop: Callable[[int], Any],
    stamp: Callable[[float], Any],
    bulk: Callable[[Sequence[int]], Any] | None = None,
    in_thread: Callable[[Sequence[int]], Any] | None = None,
) -> None:
    """Modes: one, bulk, in_thread (in bulk, jobs that run in threads), stamp."""
    mode, count = sys.argv[1], int(sys.argv[2])
    noop(UNCOUNTED)
    begun, cpu = time.perf_counter(), time.process_time()
    if mode == "one":
        push_each(noop, range(count))
    elif mode == "stamp":
        push_stamps(stamp, count)
    else:
        push = in_thread if mode == "in_thread" else bulk
        for start in range(0, count, BULK_JOBS):
            chunk = range(start, min(count, start + BULK_JOBS))
            push(chunk) if push else push_each(noop, chunk)
    sys.stdout.write(
        json.dumps({"seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - cpu})
    )


def push_each(noop: Callable[[int], Any], numbers: Iterable[int]) -> None:
    """One call a job."""
    for number in numbers:
        noop(number)


def push_stamps(stamp: Callable[[float], Any], count: int) -> None:
    """At a steady pace, each with the time just before its push."""
    due = time.time()
    for _ in range(count):
        due += STAMP_EVERY_SECONDS
        time.sleep(max(0.0, due - time.time()))
        stamp(time.time())
