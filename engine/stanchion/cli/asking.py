"""Speaks with the person at the terminal: asks before many jobs are touched, shows how far a long verb is.

Called by the verbs. All of it goes to stderr, so that stdout stays data.
"""

from __future__ import annotations

import argparse
import sys
import time

from stanchion.errors import CommandError

SILENT_SECONDS = 1.0
"""What takes no longer shows no progress."""
REDRAW_SECONDS = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of a verb that changes many jobs at once."""
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, change nothing")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def say(line: str) -> None:
    """One line for a person."""
    print(line, file=sys.stderr)


def agreed(question: str, *, yes: bool, warning: str = "") -> bool:
    """Whether a person agrees. Raises CommandError where nobody can be asked."""
    if warning:
        say(f"stanchion: warning: {warning}")
    if yes:
        return True
    if not sys.stdin.isatty():
        raise CommandError(f"{question} There is no terminal to ask on: add --yes, or --dry-run to only look")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    say("nothing was done")
    return False


class Progress:
    """One line on a terminal, redrawn: `1,200 of 5,000`. Elsewhere silent. Use as a context manager."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._redraw_at = time.monotonic() + SILENT_SECONDS
        self._is_drawn = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_drawn:
            say("")

    def __call__(self, done: int) -> None:
        """Show that so many are dealt with."""
        now = time.monotonic()
        if now < self._redraw_at or not sys.stderr.isatty():
            return
        self._redraw_at, self._is_drawn = now + REDRAW_SECONDS, True
        print(f"\r{done:,} of {self._total:,}", end="", file=sys.stderr, flush=True)
