"""The filters of the bulk verbs: flags in, a Selection out."""

from __future__ import annotations

import argparse
import re

from stanchion.admin.selection import Selection

DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhdw]?)")
NEGATIVE = re.compile(r"-[\d.]")
UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def add_arguments(parser: argparse.ArgumentParser, *, with_queue: bool = True) -> None:
    """The flags; all that are given must hold. Not `with_queue` where a verb is about one queue anyway."""
    if with_queue:
        parser.add_argument("--queue", metavar="QUEUE", help="only jobs of this queue")
    else:
        parser.set_defaults(queue=None)
    parser.add_argument("--job", metavar="GLOB", help="only jobs of this name; * stands for any characters")
    parser.add_argument("--error", metavar="TEXT", help="only jobs whose last error contains this text")
    # By its own rule argparse takes `-5m` for an option and says that AGE is missing.
    parser._negative_number_matcher = NEGATIVE
    parser.add_argument(
        "--older-than", type=duration, metavar="AGE", help="only jobs this old or older: 90s, 5m, 2h, 3d, 1w"
    )
    parser.add_argument("--newer-than", type=duration, metavar="AGE", help="only jobs no older than this")


def selection(args: argparse.Namespace) -> Selection:
    """What the flags say."""
    return Selection(args.queue, args.job, args.error, args.older_than, args.newer_than)


def duration(text: str) -> float:
    """Seconds of `90`, `90s`, `5m`, `2h`, `3d` or `1w`."""
    found = DURATION.fullmatch(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no age; write 90s, 5m, 2h, 3d or 1w")
    return float(found[1]) * UNIT_SECONDS[found[2]]


def add_limit(parser: argparse.ArgumentParser, text: str, *, default: int) -> None:
    """`--limit N`; 0 is no limit."""
    parser.add_argument(
        "--limit", type=count, default=default, metavar="N", help=f"{text} (default {default})"
    )


def jid(text: str) -> str:
    """A job's id; one that is no UTF-8 cannot be in Redis's JSON."""
    if not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r} is no job id")
    return text


def queue(text: str) -> str:
    """A queue to look at or act on: any name that Ruby may have given, not only those we declare."""
    if not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r} is no queue name")
    return text


def count(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no count; write 0 or more")
    return int(text)
