"""look over any Sidekiq's Redis, read-only: what is wrong, what will work"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from stanchion.admin.diagnosis import Diagnosis, diagnose
from stanchion.admin.wording import counted, span
from stanchion.cli import session
from stanchion.cli.table import clean
from stanchion.gate.config import ConfigCache
from stanchion.policy.queue_policy import DeadLimits
from stanchion.store.survey import Survey, survey

MEBIBYTE = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    session.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 if something needs to be done. Raises RedisUnavailable."""
    with session.opened(args, "doctor") as client:
        seen = survey(client)
        is_readable = seen.work is not None
        limits = ConfigCache().refresh(client).dead_limits() if is_readable else DeadLimits()
    diagnosis = diagnose(seen, limits)
    if args.json:
        print(json.dumps(_as_json(seen, diagnosis)))
    else:
        print("\n".join(map(clean, _lines(seen, diagnosis))))
    return 0 if diagnosis.is_healthy else 1


def _lines(seen: Survey, diagnosis: Diagnosis) -> Iterator[str]:
    yield from _server(seen)
    yield from _work(seen)
    yield ""
    if not diagnosis.findings:
        yield "Nothing is wrong."
    for number, finding in enumerate(diagnosis.findings, 1):
        yield f"{number}. {finding.rank.name.lower()}: {finding.what}"
        yield f"   why:  {finding.cause}"
        yield f"   next: {finding.next}"
    if diagnosis.fits:
        yield ""
        yield "With Stanchion:"
        yield from (f"  {fit.verdict:<8} {fit.what}: {fit.how}" for fit in diagnosis.fits)


def _server(seen: Survey) -> Iterator[str]:
    server, pulse, space = seen.server, seen.pulse, seen.keyspace
    if server is not None:
        limit = f"{server.max_memory / MEBIBYTE:,.0f} MiB" if server.max_memory else "no limit"
        log = "append-only file" if server.has_append_only_file else "snapshots only"
        yield (
            f"Server     {server.name} {server.version}, {server.mode}, {server.role}, "
            f"up {span(server.uptime_seconds)}"
        )
        used = f"{server.used_memory / MEBIBYTE:,.1f} MiB"
        yield f"Memory     {used} of {limit}, {server.eviction_policy}, {log}"
    if pulse is not None:
        yield (
            f"Distance   {pulse.median_seconds * 1000:.2f} ms (slowest of {len(pulse.round_trips)}: "
            f"{max(pulse.round_trips) * 1000:.2f} ms), clock {pulse.clock_ahead_seconds:+.3f} s"
        )
    if space is not None:
        part = "" if space.scanned >= space.keys else f", {space.scanned:,} of them looked at"
        yield f"Keys       {space.keys:,}{part}"


def _work(seen: Survey) -> Iterator[str]:
    work = seen.work
    if work is None:
        return
    waiting = sum(line.waiting for line in work.queues)
    yield f"Queues     {counted(len(work.queues), 'queue')}, {counted(waiting, 'job')} ready"
    yield "Sets       " + ", ".join(f"{name} {count:,}" for name, count in work.sizes.items())
    alive = [process for process in work.processes if process.is_alive]
    ours = sum(process.is_ours for process in alive)
    dead = len(work.processes) - len(alive)
    yield f"Processes  {ours} of Stanchion, {len(alive) - ours} of Ruby, {dead} dead"


def _as_json(seen: Survey, diagnosis: Diagnosis) -> dict[str, Any]:
    work = seen.work
    return {
        "healthy": diagnosis.is_healthy,
        "findings": [
            {**asdict(finding), "rank": finding.rank.name.lower()} for finding in diagnosis.findings
        ],
        "fits": [asdict(fit) for fit in diagnosis.fits],
        "server": asdict(seen.server) if seen.server else None,
        "pulse": asdict(seen.pulse) if seen.pulse else None,
        "keyspace": asdict(seen.keyspace) if seen.keyspace else None,
        "queues": [asdict(line) for line in work.queues] if work else [],
        "sets": dict(work.sizes) if work else {},
        "processes": [process.identity for process in work.processes] if work else [],
    }
