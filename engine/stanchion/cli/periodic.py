"""list the periodic jobs that workers have declared, and when they run next"""

from __future__ import annotations

import argparse
import json
from typing import Any

from stanchion.admin.wording import due, moment
from stanchion.cli import session
from stanchion.cli.asking import say
from stanchion.cli.table import render
from stanchion.store import entries, periodic
from stanchion.store.periodic import Declared

TITLES = ("JOB", "QUEUE", "LINE", "ZONE", "MISSED", "LAST", "NEXT", "DECLARED")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The one verb and its flags."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    session.add_arguments(verbs.add_parser("ls", help="every periodic job, by name"))


def run(args: argparse.Namespace) -> int:
    """Returns 0."""
    with session.opened(args, "periodic") as client:
        declared, now = periodic.listing(client), entries.clock(client)
    if args.json:
        print(json.dumps([_as_json(one, now) for one in declared]))
    elif declared:
        print(render(TITLES, [row(one, now) for one in declared]))
    else:
        say("no worker has declared a periodic job")
    return 0


def row(one: Declared, now: float) -> tuple[str, ...]:
    """One line of `ls`."""
    line, zone, missed = one.periodic.line, one.periodic.time_zone, one.periodic.missed
    last, next_tick = moment(one.last_at_seconds), due(one.next_at_seconds(now), now)
    return (one.name, one.queue, line, zone, missed, last, next_tick, due(one.seen_at_seconds, now))


def _as_json(one: Declared, now: float) -> dict[str, Any]:
    return {
        "name": one.name,
        "queue": one.queue,
        "line": one.periodic.line,
        "time_zone": one.periodic.time_zone,
        "missed": one.periodic.missed,
        "args": list(one.periodic.args),
        "last_at": one.last_at_seconds,
        "next_at": one.next_at_seconds(now),
        "declared_at": one.seen_at_seconds,
    }
