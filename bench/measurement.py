"""What is measured: each function makes one measurement of one engine on an empty stand."""

from __future__ import annotations

import time

import process_tree
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


def drain(
    stand: Stand,
    engine: Contender,
    shape: Shape,
    jobs: int,
    *,
    waiting: int = 0,
    warm_up_jobs: int = WARM_UP_JOBS,
) -> Figures:
    """Run `jobs` that wait, of at least `waiting`, after a warm-up. The clock runs from the start of the
    first job that counts to that of the last.
    """
    first, last = warm_up_jobs, warm_up_jobs + jobs
    stand.clear(first, last)
    stand.push(engine, engine.bulk, max(last + 1, waiting))
    with stand.worker(engine, shape) as pids:
        begun = stand.passed(first)
        redis, worker = stand.redis_cpu_seconds(), process_tree.cpu_seconds(pids)
        ended = stand.passed(last)
        redis, worker = stand.redis_cpu_seconds() - redis, process_tree.cpu_seconds(pids) - worker
    return {
        "jobs_per_s": jobs / (ended - begun),
        "redis_us": redis / jobs * 1e6,
        "worker_us": worker / jobs * 1e6,
    }


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
        at_rest = process_tree.pss_mib(pids)
        stand.push(engine, engine.bulk, jobs)
        stand.passed(jobs - 1)
        time.sleep(IDLE_SECONDS)
        return {"at_rest_mib": at_rest, "afterwards_mib": process_tree.pss_mib(pids)}
