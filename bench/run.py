"""The benchmark: Stanchion beside Sidekiq, BullMQ, Dramatiq and huey, in interleaved rounds.

    python bench/run.py [--rounds 3] [--jobs 20000] [--only drain,enqueue,wake,processes,backlog,memory]

Starts a Redis of its own, prints each figure as it is made, then a table and the promised ratios.
"""

# ruff: noqa: T201 - a command line
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
                rounds.add(f"drain, {slots} slots", engine.name, figures)
        if "drain" in parts and engine in (ASYNCIO, SIDEKIQ):
            rounds.add("drain, 1 slots", engine.name, measurement.drain(stand, engine, Shape(1), SLOW_JOBS))
        if "wake" in parts and engine is not THREADS:
            rounds.add("wake", engine.name, measurement.wake(stand, engine))
        if "processes" in parts and engine in (ASYNCIO, SIDEKIQ):
            for processes in (1, 2):
                figures = measurement.drain(stand, engine, Shape(25, processes), 2 * jobs)
                rounds.add(f"drain, {processes} processes", engine.name, figures)
        if "backlog" in parts and engine is ASYNCIO:
            for waiting in (0, MANY):
                figures = measurement.drain(stand, engine, Shape(25), jobs, waiting)
                rounds.add(f"drain of {waiting or jobs} waiting", engine.name, figures)


def promises(rounds: Rounds) -> dict[str, str]:
    """What was promised, and the ratio found."""
    drains = [f"drain, {slots} slots" for slots in SLOTS]
    for engine in (ASYNCIO, THREADS, SIDEKIQ):
        rounds.best(drains, engine.name, "jobs_per_s", "drain, best")
    rounds.best(drains[:1], DRAMATIQ.name, "jobs_per_s", "drain, best")
    rounds.best(drains[:1], HUEY.name, "jobs_per_s", "drain, best")

    def ratio(mine: tuple[str, Contender], other: tuple[str, Contender], figure: str) -> str:
        return rounds.ratio((mine[0], mine[1].name, figure), (other[0], other[1].name, figure))

    def both(what: str, theirs: Contender, figure: str, ours: Contender = ASYNCIO) -> str:
        return ratio((what, ours), (what, theirs), figure)

    return {
        "drain on asyncio, over Sidekiq (at least 2.5)": both("drain, best", SIDEKIQ, "jobs_per_s"),
        "drain on threads, over Sidekiq (at least 1)": both("drain, best", SIDEKIQ, "jobs_per_s", THREADS),
        "drain on asyncio, over Dramatiq (at least 5)": both("drain, best", DRAMATIQ, "jobs_per_s"),
        "drain on asyncio, over huey (at least 5)": both("drain, best", HUEY, "jobs_per_s"),
        "enqueue one by one, over Sidekiq (at least 1.4)": both("enqueue one by one", SIDEKIQ, "jobs_per_s"),
        "enqueue in bulk, over BullMQ (at least 5)": both("enqueue in bulk", BULLMQ, "jobs_per_s"),
        "push to start, p50, over Sidekiq (at most 1)": both("wake", SIDEKIQ, "p50_ms"),
        "push to start, p99, over Sidekiq (at most 1)": both("wake", SIDEKIQ, "p99_ms"),
        "Redis CPU of a run, 10 slots, over Sidekiq": both("drain, 10 slots", SIDEKIQ, "redis_us"),
        "Redis CPU of a run, 1 slot, over Sidekiq": both("drain, 1 slots", SIDEKIQ, "redis_us"),
        "Redis CPU of an enqueue, over Sidekiq": both("enqueue one by one", SIDEKIQ, "redis_us"),
        "two processes over one (at least 1.6)": ratio(
            ("drain, 2 processes", ASYNCIO), ("drain, 1 processes", ASYNCIO), "jobs_per_s"
        ),
        "a million waiting over few (about 1)": rounds.ratio(
            (f"drain of {MANY} waiting", ASYNCIO.name, "jobs_per_s"),
            next((key for key in rounds.keys("drain of") if str(MANY) not in key[0]), ("", "", "")),
        ),
    }


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
