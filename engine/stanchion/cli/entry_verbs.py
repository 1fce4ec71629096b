"""The command line that `dead`, `retry` and `schedule` share: ls, show, their actions, clear."""

from __future__ import annotations

import argparse

import redis

from stanchion.cli import asking, entry_actions, entry_listing, filters, session
from stanchion.cli.entry_set import EntrySet
from stanchion.errors import StanchionError
from stanchion.store.key_types import wrong_types

SHOWN = 100


def add_arguments(parser: argparse.ArgumentParser, of: EntrySet) -> None:
    """The verbs and their flags."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    ls = verbs.add_parser("ls", help="newest first" if of.newest_first else "soonest first")
    filters.add_arguments(ls)
    filters.add_limit(ls, "show at most N, 0 for all", default=SHOWN)
    show = verbs.add_parser("show", help="everything about one job: arguments, error, backtrace")
    show.add_argument("jid", type=filters.jid, metavar="JID", help="the job's id")
    for verb in of.verbs:
        acting = verbs.add_parser(verb.name, help=verb.help)
        acting.add_argument(
            "jids", type=filters.jid, metavar="JID", nargs="*", help="the jobs; else filters, or --all"
        )
        acting.add_argument("--all", action="store_true", help="every job in the set")
        filters.add_arguments(acting)
        filters.add_limit(acting, "at most N of them, 0 for no limit", default=0)
        asking.add_arguments(acting)
    asking.add_arguments(verbs.add_parser("clear", help="delete everything in the set at once"))
    for each in verbs.choices.values():
        session.add_arguments(each)


def run(args: argparse.Namespace, of: EntrySet) -> int:
    """Returns 0, or 1 if a job was not there or Redis refused it. Raises CommandError, RedisUnavailable."""
    with session.opened(args, of.key) as client:
        _check_type(client, of.key)
        if args.verb == "ls":
            return entry_listing.ls(client, of, args)
        if args.verb == "show":
            return entry_listing.show(client, of, args)
        if args.verb == "clear":
            return entry_actions.clear(client, of, args)
        verb = next(verb for verb in of.verbs if verb.name == args.verb)
        if args.jids:
            return entry_actions.act_on_named(client, of, verb, args)
        return entry_actions.act_on_selection(client, of, verb, args)


def _check_type(client: redis.Redis, key: str) -> None:
    for kind in wrong_types(client, {key: "zset"}).values():
        raise StanchionError(
            f"the key {key!r} is a {kind}, no sorted set of jobs: something else uses this database. "
            f"Move it aside with redis-cli RENAME {key} {key}.aside, or use another database"
        )
