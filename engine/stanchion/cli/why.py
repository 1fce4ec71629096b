"""find a job wherever it is: what it waits for, and the next command"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

import redis

from stanchion.admin.whereabouts import Whereabouts, locate
from stanchion.admin.why import Reason, explain
from stanchion.admin.wording import counted
from stanchion.cli import details, filters, session
from stanchion.cli.asking import say
from stanchion.cli.table import clean
from stanchion.store.recovery import RETURNS_BEFORE_QUARANTINE
from stanchion.store.search import LIMIT, Sighting


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("jid", type=filters.jid, metavar="JID", help="the job's id")
    add_search_limit(parser)
    session.add_arguments(parser)


def add_search_limit(parser: argparse.ArgumentParser) -> None:
    """How far to look: Redis has no index of ids."""
    parser.add_argument(
        "--search-limit",
        type=filters.count,
        default=LIMIT,
        metavar="N",
        help=f"look at so many jobs of each queue and set (default {LIMIT})",
    )


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 if the job is nowhere. Raises RedisUnavailable."""
    with session.opened(args, "why") as client:
        found = located(client, args.jid, args)
    reasons = [(sighting, explain(sighting, found.situation)) for sighting in found.search.sightings]
    if args.json:
        print(json.dumps(_as_json(found, reasons)))
    elif reasons:
        print("\n\n".join("\n".join(_lines(found, *each)) for each in reasons))
    else:
        print("\n".join(nowhere(args.jid, found)))
    return 0 if reasons else 1


def located(client: redis.Redis, jid: str, args: argparse.Namespace) -> Whereabouts:
    """Where a job is; stderr names the keys that could not be looked into."""
    found = locate(client, jid, limit=args.search_limit)
    for key in found.search.unreadable:
        say(f"skipped: key {key} is of the wrong type; `stanchion doctor` says what to do")
    return found


def nowhere(jid: str, found: Whereabouts) -> Iterator[str]:
    """What can be said of a job that was not found."""
    if found.search.unreadable:
        yield f"{jid} was not found, but not all keys could be read: {', '.join(found.search.unreadable)}."
        return
    if found.search.cut_short:
        places = ", ".join(found.search.cut_short)
        yield f"{jid} was not found, but not all jobs were looked at: {places} hold more."
        yield "Look further with --search-limit."
        return
    if found.remembered:
        yield f"{jid} was enqueued here (verdict: {clean(found.remembered)}) and is nowhere in Redis now:"
        yield "it has ended well, was discarded, or somebody deleted it."
        return
    yield f"{jid} is nowhere in Redis:"
    yield "it has ended well, was discarded or deleted, or never was enqueued here."


def _lines(found: Whereabouts, sighting: Sighting, reason: Reason) -> Iterator[str]:
    yield f"job    {clean(details.title(sighting.payload))}"
    yield f"is     {clean(reason.where)}"
    yield f"why    {clean(reason.because)}"
    if count := found.situation.recoveries:
        yield (
            f"note   it came back from a dead worker {counted(count, 'time')}; after "
            f"{RETURNS_BEFORE_QUARANTINE} it is taken for the cause and put into the dead set"
        )
    yield f"next   {clean(reason.next)}"


def _as_json(found: Whereabouts, reasons: list[tuple[Sighting, Reason]]) -> dict[str, Any]:
    return {
        "found": [
            {
                "place": sighting.place,
                "queue": sighting.queue or None,
                "position": sighting.position or None,
                "score": sighting.score or None,
                "holder": sighting.holder or None,
                "where": reason.where,
                "because": reason.because,
                "next": reason.next,
                **details.as_json(sighting.payload),
            }
            for sighting, reason in reasons
        ],
        "recoveries": found.situation.recoveries,
        "remembered_verdict": found.remembered or None,
        "looked_at_in_part": list(found.search.cut_short),
        "skipped": list(found.search.unreadable),
    }
