"""What a bulk verb prints when it is through: the count on stdout, what stayed behind and why on stderr."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from stanchion.admin.bulk import Tally
from stanchion.admin.wording import counted
from stanchion.cli.asking import say


def report(tally: Tally, noun: str, past: str, args: argparse.Namespace) -> None:
    """Print a tally; `past` is the verb's past participle. Obeys `--json` and `--dry-run`."""
    if args.json:
        print(json.dumps({**asdict(tally), "dry_run": args.dry_run}))
        return
    if args.dry_run:
        print(f"{counted(tally.chosen, noun)} would be {past}")
        return
    print(f"{counted(tally.done, noun)} {past}")
    for line in leftovers(tally):
        say(line)


def leftovers(tally: Tally) -> list[str]:
    """One line for each reason why something was left alone."""
    lines = []
    if tally.gone:
        lines.append(f"{tally.gone:,} had changed or gone meanwhile and were left alone")
    if tally.refused:
        lines.append(
            f"{tally.refused:,} were refused by Redis and stay where they are: "
            "is there a key of another type where their queue's list should be?"
        )
    if tally.unreadable:
        lines.append(
            f"{tally.unreadable:,} are no jobs and stay where they are; delete is all that fits them"
        )
    return lines
