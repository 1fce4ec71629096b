"""list a queue's ready jobs; show, delete or cancel one, wherever it is"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import islice

import redis

from stanchion.admin.removal import IN_HANDS, remove
from stanchion.admin.selection import Selection
from stanchion.admin.why import explain
from stanchion.admin.wording import span
from stanchion.cli import details, filters, session
from stanchion.cli.asking import say
from stanchion.cli.table import render
from stanchion.cli.why import add_search_limit, located, nowhere
from stanchion.job import Job
from stanchion.store import cancellation, entries, ready_list
from stanchion.store.search import identify

TITLES = ("JID", "JOB", "AGE", "TENANT", "ARGUMENTS")
SHOWN = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verbs and their flags."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    ls = verbs.add_parser("ls", help="the ready jobs of a queue, the next to run first")
    ls.add_argument("of_queue", type=filters.queue, metavar="QUEUE", help="its name")
    filters.add_arguments(ls, with_queue=False)
    filters.add_limit(ls, "show at most N, 0 for all", default=SHOWN)
    show = verbs.add_parser("show", help="everything about one job, wherever it is")
    show.add_argument("jid", type=filters.jid, metavar="JID", help="the job's id")
    delete = verbs.add_parser("delete", help="remove jobs for good, wherever they wait; not running ones")
    delete.add_argument("jids", type=filters.jid, metavar="JID", nargs="+", help="their ids")
    delete.add_argument("--dry-run", action="store_true", help="say what would be done, change nothing")
    delete.add_argument(
        "-y", "--yes", action="store_true", help="accepted as by other verbs; named jobs never ask"
    )
    cancel = verbs.add_parser("cancel", help="ask the workers that run these jobs to end them early")
    cancel.add_argument("jids", type=filters.jid, metavar="JID", nargs="+", help="their ids")
    for verb in (ls, show, delete, cancel):
        add_search_limit(verb)
        session.add_arguments(verb)


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 if a job was not found or runs. Raises RedisUnavailable."""
    with session.opened(args, "job") as client:
        if args.verb == "ls":
            return _ls(client, args)
        return {"show": _show, "delete": _delete, "cancel": _cancel}[args.verb](client, args)


def _ls(client: redis.Redis, args: argparse.Namespace) -> int:
    now, waiting = entries.clock(client), ready_list.length(client, args.of_queue)
    found = _matching(client, args, now)
    shown = list(islice(found, args.limit or None))
    if args.json:
        print(json.dumps([details.as_json(payload) for payload in shown]))
    elif shown:
        print(render(TITLES, [row(payload, now) for payload in shown]))
    if args.limit and len(shown) == args.limit < waiting:
        say(f"only {len(shown):,} are shown, {waiting:,} wait; --limit 0 shows all")
    elif waiting > args.search_limit:
        say(f"only the first {args.search_limit:,} of {waiting:,} were looked at; see --search-limit")
    elif not shown:
        say(
            f"no job matches in queue {args.of_queue}"
            if waiting
            else f"no job waits in queue {args.of_queue}"
        )
    return 0


def _matching(client: redis.Redis, args: argparse.Namespace, now: float) -> Iterator[bytes]:
    selection: Selection = filters.selection(args)
    for payload in islice(ready_list.walk(client, args.of_queue), args.search_limit):
        job = Job.read(payload)
        if selection.covers(job, job.enqueued_at_seconds if job else None, now):
            yield payload


def row(payload: bytes, now: float) -> tuple[str, ...]:
    """One line of `ls`."""
    job = Job.read(payload)
    if job is None:
        return (identify(payload), "-", "-", "-", "the bytes are no job")
    since = job.enqueued_at_seconds
    age = span(None if since is None else now - since)
    return (job.jid, job.name, age, job.tenant or "-", json.dumps(job.args))


def _show(client: redis.Redis, args: argparse.Namespace) -> int:
    found = located(client, args.jid, args)
    sightings = found.search.sightings
    if args.json:
        places = [{"place": each.place, **details.as_json(each.payload)} for each in sightings]
        print(json.dumps(places))
    elif sightings:
        texts = [
            details.text(each.payload, {"Place": explain(each, found.situation).where}) for each in sightings
        ]
        print("\n\n".join(texts))
    else:
        say("\n".join(nowhere(args.jid, found)))
    return 0 if sightings else 1


def _delete(client: redis.Redis, args: argparse.Namespace) -> int:
    deleted: list[str] = []
    for jid in dict.fromkeys(args.jids):
        found = located(client, jid, args)
        removal = remove(client, found.search.sightings, dry_run=args.dry_run)
        if removal.held_by:
            say(f"{jid}: {', '.join(removal.held_by)} runs it; it can be deleted when it waits again")
        elif removal.removed:
            deleted.append(jid)
        elif found.search.sightings:
            say(f"{jid}: it moved on meanwhile and was left alone")
        else:
            say("\n".join(nowhere(jid, found)))
    if args.json:
        print(json.dumps({"deleted": deleted, "dry_run": args.dry_run}))
    for jid in () if args.json else deleted:
        print(f"{jid} {'would be deleted' if args.dry_run else 'deleted'}")
    return 0 if len(deleted) == len(set(args.jids)) else 1


def _cancel(client: redis.Redis, args: argparse.Namespace) -> int:
    asked: list[str] = []
    for jid in dict.fromkeys(args.jids):
        found = located(client, jid, args)
        if any(sighting.place in IN_HANDS for sighting in found.search.sightings):
            cancellation.ask(client, jid)
            asked.append(jid)
        elif found.search.sightings:
            say(f"{jid}: it does not run; remove it with: stanchion job delete {jid}")
        else:
            say("\n".join(nowhere(jid, found)))
    if args.json:
        print(json.dumps({"asked": asked}))
    for jid in () if args.json else asked:
        print(f"{jid} asked to end")
    return 0 if len(asked) == len(set(args.jids)) else 1
