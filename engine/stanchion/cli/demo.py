"""A two-minute tour: the same load on a gated and on a plain queue, side by side.

It brings its own Redis and workers, ends by itself, and leaves nothing behind.
"""

from __future__ import annotations

import argparse

from stanchion.cli.dev import require_local_extra


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--no-live", action="store_true", help="plain lines instead of a live picture")


def run(args: argparse.Namespace) -> int:
    """Returns 0 if the gated queue lost no job, else 1."""
    require_local_extra()
    from stanchion.dev.demo import show

    return show.run(live=not args.no_live)
