"""list, pause, unpause, clear and delete queues"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple
from shlex import quote
from typing import Any

import redis

from stanchion.admin.bulk import Tally
from stanchion.admin.wording import counted, span, waiting_elsewhere
from stanchion.call import check_queue
from stanchion.cli import asking, filters, session
from stanchion.cli.asking import say
from stanchion.cli.report import report
from stanchion.cli.table import clean, render
from stanchion.errors import CommandError
from stanchion.store import processes, queues, ready_list
from stanchion.store.processes import Process
from stanchion.store.queues import QueueLine, SetSizes

TITLES = ("QUEUE", "WAITING", "OLDEST", "BUSY", "WORKERS", "PAUSED")
NUMBERS = ("WAITING", "OLDEST", "BUSY", "WORKERS")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of `stanchion queue VERB`."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    verbs.add_parser(
        "ls", help="waiting jobs, age of the oldest, running jobs, who serves it, whether paused"
    )
    show = verbs.add_parser("show", help="one queue: its figures, its workers, its policy")
    pause = verbs.add_parser("pause", help="start no more jobs of a queue; running ones end")
    unpause = verbs.add_parser("unpause", help="start jobs of a queue again")
    clear = verbs.add_parser("clear", help="delete the jobs that are ready in a queue")
    delete = verbs.add_parser("delete", help="forget an empty queue: its name, its pause and its counters")
    show.add_argument("queue", type=filters.queue, metavar="QUEUE", help="its name")
    for verb in (pause, unpause, clear, delete):
        verb.add_argument("queues", type=filters.queue, metavar="QUEUE", nargs="+", help="one or more names")
    for verb in (clear, delete):
        asking.add_arguments(verb)
    for each in verbs.choices.values():
        session.add_arguments(each)


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 if a queue is not there or was not deleted. Raises CommandError, RedisUnavailable."""
    names = [args.queue] if args.verb == "show" else getattr(args, "queues", [])
    with session.opened(args, "queue") as client:
        if args.verb in ("pause", "unpause"):
            return _switch(client, names, args)
        if args.verb == "clear":
            return _clear(client, names, args)
        if args.verb == "delete":
            return _delete(client, names, args)
        served_by = processes.read_all_processes(client)
        lines = queues.overview(client, served_by, names)
        if args.verb == "ls":
            return _ls(lines, queues.set_sizes(client), args)
        return _show(client, lines, served_by, args)


def _ls(lines: Sequence[QueueLine], set_sizes: SetSizes, args: argparse.Namespace) -> int:
    if args.json:
        print(json.dumps([_as_json(line) for line in lines]))
        return 0
    if lines:
        print(render(TITLES, [_row(line) for line in lines], numbers=NUMBERS))
    else:
        say("no queue has held a job yet")
    for line in lines:
        if line.broken:
            say(f"{line.queue}: {line.broken}; `stanchion doctor` says more")
    if footer := waiting_elsewhere(*astuple(set_sizes)):
        say(footer)
    return 0


def _row(line: QueueLine) -> tuple[str, ...]:
    if line.broken:
        return (line.queue, "broken", "-", str(line.busy), str(line.workers), line.paused)
    age = span(line.oldest_age_seconds)
    return (line.queue, str(line.waiting), age, str(line.busy), str(line.workers), line.paused)


def _as_json(line: QueueLine) -> dict[str, Any]:
    """`paused_by` is null where `paused` is false; `broken` is a field of a broken queue only."""
    fields = asdict(line)
    if not line.broken:
        del fields["broken"]
    is_paused = line.paused != "no"
    return {**fields, "paused": is_paused, "paused_by": line.paused if is_paused else None}


def _show(
    client: redis.Redis, lines: Sequence[QueueLine], served_by: Sequence[Process], args: argparse.Namespace
) -> int:
    line = next((line for line in lines if line.queue == args.queue), None)
    if line is None:
        say(f"nobody knows a queue {args.queue}: it has held no job, no policy names it, no worker serves it")
        return 1
    if line.broken:
        say(f"queue {line.queue} cannot be read: {line.broken}; `stanchion doctor` says more")
        return 1
    counters, policy = queues.facts(client, line.queue)
    workers = [process for process in served_by if process.is_alive and line.queue in process.queues]
    if args.json:
        served = [process.identity for process in workers]
        more = {"served_by": served, "policy": policy or None, "counters": counters}
        print(json.dumps({**_as_json(line), **more}))
        return 0
    print(f"Queue:      {line.queue}")
    print(f"Waiting:    {line.waiting:,}, the oldest for {span(line.oldest_age_seconds)}")
    print(f"Running:    {line.busy:,}")
    print(f"Paused:     {line.paused}")
    print(f"Policy:     {clean(policy) or 'none'}")
    print(f"Counters:   {', '.join(f'{name} {count}' for name, count in counters.items()) or 'none'}")
    print(f"Served by:  {counted(len(workers), 'process')}")
    for process in workers:
        state = ", quiet" if process.is_quiet else ""
        print(f"  {clean(process.identity)}: {process.busy} of {process.concurrency} slots busy{state}")
    return 0


def _switch(client: redis.Redis, names: Sequence[str], args: argparse.Namespace) -> int:
    done = f"{args.verb}d"
    switch: Callable[[redis.Redis, Iterable[str]], list[str]]
    switch = queues.pause if args.verb == "pause" else queues.unpause
    known = {line.queue for line in queues.overview(client, processes.read_all_processes(client), names)}
    unknown = [name for name in names if name not in known]
    for name in unknown:
        check_queue(name)
    changed = switch(client, names)
    for name in unknown:
        say(f"stanchion: warning: nobody knows a queue {name} yet; is the name right?")
    if args.json:
        print(json.dumps({done: changed}))
        return 0
    for name in names:
        print(f"{name} {done}" if name in changed else f"{name} was {done} already")
    return 0


def _clear(client: redis.Redis, names: Sequence[str], args: argparse.Namespace) -> int:
    count = sum(ready_list.length(client, name) for name in names)
    tally = Tally(count)
    if count and not args.dry_run:
        question = f"Delete {counted(count, 'ready job')} of {', '.join(names)} for good?"
        if not asking.agreed(question, yes=args.yes):
            return 1
        count = sum(queues.clear(client, name) for name in names)
        tally = Tally(count, done=count)
    report(tally, "ready job", "deleted", args)
    return 0


def _delete(client: redis.Redis, names: Sequence[str], args: argparse.Namespace) -> int:
    for name in names:
        if count := ready_list.length(client, name):
            raise CommandError(
                f"queue {name} holds {counted(count, 'job')}; "
                f"`stanchion queue clear {quote(name)}` empties it"
            )
    there = [name for name in names if queues.is_known(client, name)]
    for name in names:
        if name not in there:
            say(f"{name}: there is no such queue")
    if args.dry_run or not there:
        _say_deleted(there, "would be deleted", args)
        return 0 if len(there) == len(names) else 1
    if not asking.agreed(f"Forget {', '.join(there)}?", yes=args.yes):
        return 1
    deleted = [name for name in there if queues.delete(client, name)]
    _say_deleted(deleted, "deleted", args)
    for name in there:
        if name not in deleted:
            say(f"{name}: a job was pushed meanwhile; it stays")
    return 0 if len(deleted) == len(names) else 1


def _say_deleted(names: Sequence[str], words: str, args: argparse.Namespace) -> None:
    if args.json:
        print(json.dumps({"deleted": names, "dry_run": args.dry_run}))
        return
    for name in names:
        print(f"{name} {words}")
