"""The actions of `dead`, `retry` and `schedule`: on named jobs, on those that filters choose, on all."""

from __future__ import annotations

import argparse
from itertools import islice

import redis

from stanchion.admin import bulk
from stanchion.admin.bulk import Tally
from stanchion.admin.wording import counted
from stanchion.cli import asking, filters
from stanchion.cli.asking import say
from stanchion.cli.entry_listing import named
from stanchion.cli.entry_set import EntrySet, Verb
from stanchion.cli.report import report
from stanchion.errors import CommandError
from stanchion.store import entries


def act_on_named(client: redis.Redis, of: EntrySet, verb: Verb, args: argparse.Namespace) -> int:
    """Act on the jobs that are named, without asking. Returns 1 if one was not there, or stayed."""
    if args.all or not filters.selection(args).is_everything:
        raise CommandError("name jobs, or give filters or --all, not both")
    chosen = named(client, of, args.jids)
    is_short = len({found.id for found in chosen}) < len(set(args.jids))
    tally = Tally(len(chosen))
    if not args.dry_run:
        if warning := verb.warning(client, len(chosen)):
            say(f"stanchion: warning: {warning}")
        tally = bulk.act_on(client, of.key, verb.action(client), chosen)
    report(tally, of.noun, verb.past, args)
    return 1 if is_short or not tally.is_complete else 0


def act_on_selection(client: redis.Redis, of: EntrySet, verb: Verb, args: argparse.Namespace) -> int:
    """Act on all that the filters cover, once a person agrees. Returns 1 if not, or if some stayed."""
    selection = filters.selection(args)
    if selection.is_everything and not args.all:
        raise CommandError(f"name the jobs to {verb.name}, or choose with filters, or give --all")
    found = islice(bulk.matching(client, of.key, selection), args.limit or None)
    chosen = {each.fingerprint for each in found}
    tally = Tally(len(chosen))
    if chosen and not args.dry_run:
        question = f"{verb.name.capitalize()} {counted(len(chosen), of.noun)}?"
        if not asking.agreed(question, yes=args.yes, warning=verb.warning(client, len(chosen))):
            return 1
        with asking.Progress(len(chosen)) as progress:
            tally = bulk.act(client, of.key, verb.action(client), chosen, progress=progress)
    report(tally, of.noun, verb.past, args)
    return 0 if tally.is_complete else 1


def clear(client: redis.Redis, of: EntrySet, args: argparse.Namespace) -> int:
    """Delete all that is in the set at that instant, once a person agrees. Returns 1 if not."""
    count = entries.count(client, of.key)
    tally = Tally(count)
    if count and not args.dry_run:
        if not asking.agreed(f"Delete {counted(count, of.noun)} for good?", yes=args.yes):
            return 1
        count = entries.clear(client, of.key)
        tally = Tally(count, done=count)
    report(tally, of.noun, "deleted", args)
    return 0
