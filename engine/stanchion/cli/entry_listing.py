"""`ls` and `show` of `dead`, `retry` and `schedule`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import islice

import redis

from stanchion.admin import bulk
from stanchion.admin.selection import Found
from stanchion.admin.wording import moment
from stanchion.cli import details, filters
from stanchion.cli.asking import say
from stanchion.cli.entry_set import EntrySet
from stanchion.cli.table import render
from stanchion.store import entries, search


def ls(client: redis.Redis, of: EntrySet, args: argparse.Namespace) -> int:
    """A line an entry; stderr says what is left out. Returns 0."""
    found = bulk.matching(client, of.key, filters.selection(args), newest_first=of.newest_first)
    shown = list(islice(found, args.limit or None))
    if args.json:
        print(json.dumps([_as_json(of, each) for each in shown]))
    elif shown:
        now = entries.clock(client)
        print(render(of.titles, [of.row(each, now) for each in shown]))
    total = entries.count(client, of.key)
    if not shown:
        say(f"no {of.noun} matches" if total else f"no {of.noun}")
    elif args.limit and next(found, None) is not None:
        say(f"only the first {len(shown):,} are shown of a set of {total:,}; --limit 0 shows all")
    return 0


def show(client: redis.Redis, of: EntrySet, args: argparse.Namespace) -> int:
    """Everything about one job. Returns 0, or 1 if it is not there."""
    found = named(client, of, [args.jid])
    if args.json:
        print(json.dumps([_as_json(of, each) for each in found]))
    elif found:
        title = of.score_means.replace("_", " ").capitalize()
        texts = [details.text(each.entry.member, {title: moment(each.entry.score)}) for each in found]
        print("\n\n".join(texts))
    return 0 if found else 1


def named(client: redis.Redis, of: EntrySet, jids: Sequence[str]) -> list[Found]:
    """The entries of these ids; stderr says which are not there."""
    found: list[Found] = []
    for jid in dict.fromkeys(jids):
        those, is_whole = search.in_set(client, of.key, jid)
        found += map(Found.read, those)
        if not those:
            where = "" if is_whole else f" among the {search.LIMIT:,} looked at"
            say(f"{jid}: no such {of.noun}{where}; `stanchion why {jid}` looks everywhere")
    return found


def _as_json(of: EntrySet, found: Found) -> dict[str, object]:
    return {of.score_means: found.entry.score, **details.as_json(found.entry.member)}
