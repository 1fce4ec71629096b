"""list the worker processes, Ruby's too; quiet or stop them"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import redis

from stanchion.admin.wording import moment, span
from stanchion.cli import asking, details, session
from stanchion.cli.asking import say
from stanchion.cli.table import clean, render
from stanchion.errors import CommandError, StanchionError
from stanchion.store import entries, processes
from stanchion.store.processes import Process

TITLES = ("PROCESS", "QUEUES", "SLOTS", "BUSY", "STATE", "BEAT", "RSS", "VERSION")
NUMBERS = ("SLOTS", "BUSY", "BEAT", "RSS")
SIGNALS = {"quiet": processes.QUIET, "stop": processes.STOP}
WORDS = {"quiet": "go quiet: it ends its jobs and takes no more", "stop": "stop: it drains and exits"}


class NoSuchProcess(StanchionError):
    """Nobody is listed under that name: as with a job that is not there, the work failed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verbs and their flags."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    verbs.add_parser("ls", help="every process that is listed, dead ones too")
    show = verbs.add_parser("show", help="one process and the jobs it runs")
    show.add_argument("process", metavar="PROCESS", help="its name, or the beginning of it")
    for name in SIGNALS:
        verb = verbs.add_parser(name, help=f"ask processes to {WORDS[name]}")
        verb.add_argument(
            "processes", metavar="PROCESS", nargs="*", help="their names, or the beginnings of them"
        )
        verb.add_argument("--all", action="store_true", help="every live process")
        asking.add_arguments(verb)
    for each in verbs.choices.values():
        session.add_arguments(each)


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 if a process obeys no signals. Raises NoSuchProcess, or CommandError for a name that
    begins those of several.
    """
    with session.opened(args, "process") as client:
        everyone, now = processes.read_all_processes(client), entries.clock(client)
        if args.verb == "ls":
            return _ls(everyone, now, args)
        if args.verb == "show":
            return _show(_named(everyone, args.process), now, args)
        return _signal(client, everyone, args)


def _ls(everyone: Sequence[Process], now: float, args: argparse.Namespace) -> int:
    if args.json:
        print(json.dumps([_as_json(process) for process in everyone]))
    elif everyone:
        print(render(TITLES, [row(process, now) for process in everyone], numbers=NUMBERS))
    else:
        say("no process is listed")
    return 0


def row(process: Process, now: float) -> tuple[str, ...]:
    """One line of `ls`."""
    if process.beat_at_seconds is None:
        return (process.identity, "-", "-", "-", "dead", "-", "-", "-")
    return (
        process.identity,
        ",".join(process.queues) or "-",
        str(process.concurrency),
        str(process.busy),
        "quiet" if process.is_quiet else "running",
        f"{span(now - process.beat_at_seconds)}",
        f"{process.rss_kb // 1024}Mi",
        "stanchion" if process.is_ours else f"sidekiq {process.version}".strip(),
    )


def _show(process: Process, now: float, args: argparse.Namespace) -> int:
    if args.json:
        print(json.dumps(_as_json(process)))
        return 0
    name, queues, slots, busy, state, beat, rss, version = map(clean, row(process, now))
    print(f"Process:    {name}")
    print(f"Tag:        {clean(process.tag) or '-'}")
    print(f"Version:    {version}")
    print(f"State:      {state}, last beat {beat} ago" if process.is_alive else f"State:      {state}")
    print(f"Started:    {moment(process.started_at_seconds)}")
    print(f"Queues:     {queues}")
    print(f"Slots:      {busy} of {slots} busy")
    print(f"Memory:     {rss}")
    for job in process.running:
        age = span(now - job.started_at_seconds)
        print(f"  {clean(details.title(job.payload))} of queue {clean(job.queue)}, running for {age}")
    return 0


def _signal(client: redis.Redis, everyone: Sequence[Process], args: argparse.Namespace) -> int:
    if bool(args.processes) == args.all:
        raise CommandError(f"name the processes to {args.verb}, or give --all")
    chosen = [_named(everyone, name) for name in args.processes]
    if args.all:
        chosen = [process for process in everyone if process.is_alive]
        if not chosen:
            say("no live process is listed: nobody was asked")
    names = [process.identity for process in chosen]
    deaf = [process.identity for process in chosen if process.is_embedded or not process.is_alive]
    if args.all and names and not args.dry_run:
        question = f"Ask {', '.join(map(clean, names))} to {args.verb}?"
        if not asking.agreed(question, yes=args.yes):
            return 1
    asked = [name for name in names if name not in deaf]
    for name in () if args.dry_run else asked:
        processes.signal(client, name, SIGNALS[args.verb])
    if args.json:
        print(json.dumps({"asked": asked, "dry_run": args.dry_run}))
    for name in () if args.json else asked:
        print(f"{clean(name)} {'would be' if args.dry_run else 'was'} asked to {WORDS[args.verb]}")
    for name in deaf:
        say(f"{clean(name)} obeys no signals: it is dead, or embedded in another program")
    return 1 if deaf else 0


def _named(everyone: Sequence[Process], name: str) -> Process:
    exact = [process for process in everyone if process.identity == name]
    found = exact or [process for process in everyone if process.identity.startswith(name)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NoSuchProcess(f"no process is named {name!r}; `stanchion process ls` lists them")
    names = ", ".join(clean(process.identity) for process in found)
    raise CommandError(f"{name!r} begins the names of several processes: {names}")


def _as_json(process: Process) -> dict[str, Any]:
    running = [
        {"queue": job.queue, "started_at": job.started_at_seconds, **details.as_json(job.payload)}
        for job in process.running
    ]
    return {**asdict(process), "running": running, "is_alive": process.is_alive, "is_ours": process.is_ours}
