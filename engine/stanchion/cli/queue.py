"""list, pause and unpause queues"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict

import redis

from stanchion.errors import InvalidSettings
from stanchion.settings import Settings
from stanchion.store import connection, queues
from stanchion.store.queues import QueueLine
from stanchion.worker.options import QUEUE_NAME

TITLES = ("QUEUE", "WAITING", "OLDEST", "BUSY", "PAUSED")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of `stanchion queue VERB`."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    ls = verbs.add_parser("ls", help="waiting jobs, age of the oldest, running jobs, whether paused")
    pause = verbs.add_parser("pause", help="start no more jobs of a queue; running ones end")
    unpause = verbs.add_parser("unpause", help="start jobs of a queue again")
    for verb in (pause, unpause):
        verb.add_argument("queues", metavar="QUEUE", nargs="+")
    for verb in (ls, pause, unpause):
        verb.add_argument("--redis-url", metavar="URL", help="default: STANCHION_REDIS_URL, else localhost")
        verb.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Returns 0. Raises InvalidSettings for a bad queue name and RedisUnavailable."""
    url = Settings.from_environ().with_redis_url(args.redis_url).redis_url
    with connection.readable_errors(url), connection.connect(url, name="stanchion-queue") as client:
        if args.verb == "ls":
            _print_overview(queues.overview(client), as_json=args.json)
            return 0
        switch = queues.pause if args.verb == "pause" else queues.unpause
        _switch(client, switch, args.queues, f"{args.verb}d", as_json=args.json)
    return 0


def _switch(
    client: redis.Redis,
    switch: Callable[[redis.Redis, Iterable[str]], list[str]],
    names: Sequence[str],
    done: str,
    *,
    as_json: bool,
) -> None:
    for name in names:
        if not QUEUE_NAME.fullmatch(name):
            raise InvalidSettings(f"queue name {name!r} may hold only letters, digits and _ : . -")
    changed = switch(client, names)
    if as_json:
        print(json.dumps({done: changed}))
        return
    for name in names:
        print(f"{name} {done}" if name in changed else f"{name} was {done} already")


def _print_overview(lines: Sequence[QueueLine], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(line) for line in lines]))
        return
    if not lines:
        print("no queue has held a job yet", file=sys.stderr)
        return
    rows = [
        TITLES,
        *((line.queue, str(line.waiting), _age(line), str(line.busy), line.paused) for line in lines),
    ]
    name, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    for row in rows:
        numbers = "  ".join(f"{cell:>{width}}" for cell, width in zip(row[1:-1], widths[:-1], strict=True))
        print(f"{row[0]:<{name}}  {numbers}  {row[-1]}")


def _age(line: QueueLine) -> str:
    """Whole seconds, as `kubectl` shows ages: 42s, 7m, 3h, 2d."""
    age = line.oldest_age_seconds
    if age is None:
        return "-"
    for unit, seconds in (("d", 86_400), ("h", 3600), ("m", 60)):
        if age >= 2 * seconds:
            return f"{age / seconds:.0f}{unit}"
    return f"{age:.0f}s"
