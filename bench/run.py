"""The benchmark: Stanchion beside Sidekiq, BullMQ, Dramatiq and huey, in interleaved rounds.

    python bench/run.py [--rounds 3] [--jobs 20000] [--only drain,enqueue,wake,processes,backlog,memory]

Starts a Redis of its own, prints each figure as it is made, then a table and the promised ratios.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import measurement
from contender import ALL, ASYNCIO, BULLMQ, DRAMATIQ, HUEY, SIDEKIQ, THREADS, Contender, Shape
from rounds import Rounds
from stand import Stand

from stanchion.dev.redis_server import RedisServer

SLOTS = (10, 25, 50)
SLOW_JOBS = 5000
"""For engines that would take minutes."""
MANY = 1_000_000
PARTS = ("enqueue", "drain", "wake", "processes", "backlog", "memory")


def one_round(stand: Stand, rounds: Rounds, engines: list[Contender], parts: set[str], jobs: int) -> None:
    """Every part once, engine after engine."""
    for engine in engines:
        few = min(jobs, SLOW_JOBS) if engine in (DRAMATIQ, HUEY) else jobs
        if "enqueue" in parts and engine is not THREADS:
            rounds.add("enqueue one by one", engine.name, measurement.enqueue(stand, engine, "one", few))
            rounds.add("enqueue in bulk", engine.name, measurement.enqueue(stand, engine, "bulk", few))
        if "drain" in parts:
            for slots in SLOTS if engine in (ASYNCIO, THREADS, SIDEKIQ) else SLOTS[:1]:
                figures = measurement.drain(stand, engine, Shape(slots), few)
                rounds.add(drain(slots), engine.name, figures)
        if "drain" in parts and engine in (ASYNCIO, SIDEKIQ):
            rounds.add(drain(1), engine.name, measurement.drain(stand, engine, Shape(1), SLOW_JOBS))
        if "wake" in parts and engine is not THREADS:
            rounds.add("wake", engine.name, measurement.wake(stand, engine))
        if "processes" in parts and engine in (ASYNCIO, SIDEKIQ):
            for processes in (1, 2):
                # The second process is still starting while the first drains: its start must not count.
                shape, many = Shape(25, processes), 2 * jobs
                figures = measurement.drain(stand, engine, shape, many, warm_up_jobs=many)
                rounds.add(f"drain, {processes} processes", engine.name, figures)
        if "backlog" in parts and engine is ASYNCIO:
            for name, waiting in (("few", 0), ("many", MANY)):
                figures = measurement.drain(stand, engine, Shape(25), jobs, waiting=waiting)
                rounds.add(f"drain, {name} waiting", engine.name, figures)


def promises(rounds: Rounds) -> dict[str, str]:
    """What was promised, and the ratio found, ours over theirs."""
    for engine in ALL:
        drains = [drain(slots) for slots in (SLOTS if engine in (ASYNCIO, THREADS, SIDEKIQ) else SLOTS[:1])]
        rounds.join(max, drains, ("drain, best", engine.name, "jobs_per_s"))
    for engine in (ASYNCIO, SIDEKIQ):
        for slots in (1, SLOTS[0]):
            into = (f"whole life, {slots} slots", engine.name, "redis_us")
            rounds.join(sum, ["enqueue one by one", drain(slots)], into)

    def over(theirs: Contender, measurement: str, figure: str, ours: Contender = ASYNCIO) -> str:
        return rounds.ratio((measurement, ours.name, figure), (measurement, theirs.name, figure))

    def among_ours(measurement: str, other: str) -> str:
        mine, theirs = ((one, ASYNCIO.name, "jobs_per_s") for one in (measurement, other))
        return rounds.ratio(mine, theirs)

    return {
        "drain on asyncio, over Sidekiq (at least 2.5)": over(SIDEKIQ, "drain, best", "jobs_per_s"),
        "drain on threads, over Sidekiq (at least 1)": over(SIDEKIQ, "drain, best", "jobs_per_s", THREADS),
        "drain on asyncio, over Dramatiq (at least 5)": over(DRAMATIQ, "drain, best", "jobs_per_s"),
        "drain on asyncio, over huey (at least 5)": over(HUEY, "drain, best", "jobs_per_s"),
        "enqueue one by one, over Sidekiq (at least 1.4)": over(SIDEKIQ, "enqueue one by one", "jobs_per_s"),
        "enqueue in bulk, over BullMQ (at least 5)": over(BULLMQ, "enqueue in bulk", "jobs_per_s"),
        "push to start, p50, over Sidekiq (at most 1)": over(SIDEKIQ, "wake", "p50_ms"),
        "push to start, p99, over Sidekiq (at most 1)": over(SIDEKIQ, "wake", "p99_ms"),
        "Redis CPU, whole life, 10 slots, over Sidekiq (at most 1.2)": over(
            SIDEKIQ, f"whole life, {SLOTS[0]} slots", "redis_us"
        ),
        "Redis CPU, whole life, 1 slot, over Sidekiq (at most 2)": over(
            SIDEKIQ, "whole life, 1 slots", "redis_us"
        ),
        "two processes over one (at least 1.6)": among_ours("drain, 2 processes", "drain, 1 processes"),
        "a million waiting over few (about 1)": among_ours("drain, many waiting", "drain, few waiting"),
    }


def drain(slots: int) -> str:
    """What a drain with so many slots is called."""
    return f"drain, {slots} slots"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, parted by commas")
    arguments = parser.parse_args()
    parts = set(arguments.only.split(","))
    if unknown := parts - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    engines = [engine for engine in ALL if engine.is_here]
    for engine in ALL:
        if engine not in engines:
            print(f"left out: {engine.name} ({engine.program} is not there; see setup_peers.sh)")
    rounds = Rounds()
    with tempfile.TemporaryDirectory() as folder, RedisServer(Path(folder)) as server:
        stand = Stand(server.url, Path(folder))
        for number in range(arguments.rounds):
            print(f"round {number + 1}")
            one_round(stand, rounds, engines, parts - {"memory"}, arguments.jobs)
        if "memory" in parts:
            rounds.add("memory", ASYNCIO.name, measurement.memory(stand, ASYNCIO, MANY))
    print(rounds.table())
    for promise, ratio in promises(rounds).items():
        print(f"{promise}: {ratio}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
