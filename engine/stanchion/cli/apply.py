"""Write the config hashes of manifests to a Redis, without Kubernetes."""

from __future__ import annotations

import argparse
import asyncio
import sys
from datetime import UTC, datetime

from stanchion.admin.apply import Applied, Outcome, apply
from stanchion.admin.reading import Reading, read
from stanchion.policy import enforcement
from stanchion.policy.contract import Config
from stanchion.settings import Settings
from stanchion.store import connection


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="files, or folders without their subfolders; - reads standard input",
    )
    parser.add_argument("--redis-url", metavar="URL", help="default: STANCHION_REDIS_URL, else localhost")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, write nothing")
    parser.add_argument(
        "--take-over", action="store_true", help="rewrite hashes that another owner or the operator wrote"
    )
    parser.add_argument(
        "--prune", action="store_true", help="remove what earlier runs wrote and the manifests no longer hold"
    )


def run(args: argparse.Namespace) -> int:
    """Returns 0, 1 if a manifest is refused or a hash stayed as it was, 2 if a path holds no manifest."""
    reading = read(args.paths, one_redis=True)
    for line in (*reading.skipped, *enforcement.notices(reading.policies), *reading.problems):
        print(line, file=sys.stderr)
    if reading.problems:
        print("nothing was written", file=sys.stderr)
        return 2 if reading.paths_are_wrong else 1
    url = Settings.from_environ().with_redis_url(args.redis_url).redis_url
    outcome = asyncio.run(_apply(url, reading, args))
    _report(outcome, dry_run=args.dry_run)
    return 0 if outcome.is_complete else 1


async def _apply(url: str, reading: Reading, args: argparse.Namespace) -> Outcome:
    with connection.readable_errors(url):
        async with connection.connect_async(url, name="stanchion-apply") as client:
            return await apply(
                client,
                reading.policies,
                now=datetime.now(UTC),
                take_over=args.take_over,
                prune=args.prune,
                dry_run=args.dry_run,
            )


def _report(outcome: Outcome, *, dry_run: bool) -> None:
    suffix = " (dry run)" if dry_run else ""
    for each in outcome.applied:
        print(f"{each.entry} {each.result.outcome}{suffix}")
        if problem := _problem(each):
            print(f"stanchion: {problem}", file=sys.stderr)
    for entry in outcome.pruned:
        print(f"{entry} pruned{suffix}")


def _problem(applied: Applied) -> str:
    if applied.result.outcome == "conflict":
        return (
            f"{applied.entry} belongs to {applied.result.owner}, written by another owner or installation; "
            "--take-over rewrites it"
        )
    if applied.result.outcome == "stale":
        return f"{applied.entry} was written by someone else at the same time; run the command again"
    if not applied.acts_on:
        return f"{applied.entry} acts on no queue: no QueuePolicy in {_namespace(applied.policy)} matches it"
    return ""


def _namespace(policy: Config) -> str:
    return f"namespace {policy.owner.namespace}"
