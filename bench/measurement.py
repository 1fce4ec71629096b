"""What is measured: each function makes one measurement of one engine on an empty stand."""

from __future__ import annotations

import time
from pathlib import Path

from contender import Contender, Shape
from stand import Stand

WARM_UP_JOBS = 1000
IDLE_SECONDS = 3.0
STAMPS = 500
WARM_UP_STAMPS = 50

Figures = dict[str, float]


def enqueue(stand: Stand, engine: Contender, mode: str, jobs: int) -> Figures:
    """Push `jobs`, one by one or in bulk, to nobody. Rates in jobs/s, Redis' CPU in µs a job."""
    stand.clear()
    before = stand.redis_cpu_seconds()
    seconds = stand.push(engine, mode, jobs)
    cpu = stand.redis_cpu_seconds() - before
    return {"jobs_per_s": jobs / seconds, "redis_us": cpu / jobs * 1e6}


def drain(stand: Stand, engine: Contender, shape: Shape, jobs: int, waiting: int = 0) -> Figures:
    """Run `jobs` that wait, of at least `waiting`, after a warm-up. The clock runs from the start of the
    first job that counts to that of the last.
    """
    first, last = WARM_UP_JOBS, WARM_UP_JOBS + jobs
    stand.clear(first, last)
    stand.push(engine, engine.bulk, max(last + 1, waiting))
    with stand.worker(engine, shape):
        begun, before = stand.passed(first), stand.redis_cpu_seconds()
        ended, after = stand.passed(last), stand.redis_cpu_seconds()
    return {"jobs_per_s": jobs / (ended - begun), "redis_us": (after - before) / jobs * 1e6}


def wake(stand: Stand, engine: Contender) -> Figures:
    """Push a job every 10 ms to an idle worker. Milliseconds from before the push to the job's start."""
    stand.clear()
    with stand.worker(engine, Shape()):
        stand.push(engine, "stamp", WARM_UP_STAMPS)
        seen = stand.written(WARM_UP_STAMPS)
        time.sleep(IDLE_SECONDS)
        stand.push(engine, "stamp", STAMPS)
        stand.written(seen + STAMPS)
        waits = sorted(float(seconds) * 1000 for _, seconds in stand.lines()[seen:])
    return {"p50_ms": waits[len(waits) // 2], "p99_ms": waits[len(waits) * 99 // 100]}


def memory(stand: Stand, engine: Contender, jobs: int) -> Figures:
    """Proportional set size of the worker's processes: at rest, and at rest again after `jobs`. MiB."""
    stand.clear(WARM_UP_JOBS, jobs - 1)
    with stand.worker(engine, Shape()) as pids:
        time.sleep(2 * IDLE_SECONDS)
        at_rest = sum(map(pss_mib, pids))
        stand.push(engine, engine.bulk, jobs)
        stand.passed(jobs - 1)
        time.sleep(IDLE_SECONDS)
        return {"at_rest_mib": at_rest, "afterwards_mib": sum(map(pss_mib, pids))}


def pss_mib(pid: int) -> float:
    """Of a process and all its descendants."""
    process = Path(f"/proc/{pid}")
    lines = (process / "smaps_rollup").read_text().splitlines()
    own = next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    children = (task / "children" for task in (process / "task").iterdir())
    return own + sum(pss_mib(int(child)) for listed in children for child in listed.read_text().split())
