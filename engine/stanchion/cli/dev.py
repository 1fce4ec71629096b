"""Run declared queues on this machine: a Redis, local workers that scale, a live view.

PATHs are manifests (files or folders). Ctrl-C drains the workers and stops; a second one stops at once.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from stanchion.errors import CommandError

NEEDED = {"rich": "rich", "watchfiles": "watchfiles", "yaml": "pyyaml", "jsonschema": "jsonschema"}
"""Module -> distribution of the `local` extra, which a producer or a worker goes without."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="manifests: files, or folders without their subfolders",
    )
    parser.add_argument(
        "--app",
        metavar="MODULE:APP",
        help="the application; alone, every queue of its jobs runs with the defaults",
    )
    parser.add_argument(
        "--exec",
        action="append",
        default=[],
        dest="commands",
        metavar="QUEUE=COMMAND",
        help="run somebody else's worker for a queue, e.g. mail='bundle exec sidekiq -q mail'",
    )
    parser.add_argument("--redis-url", default="", metavar="URL", help="default: a Redis of its own")
    parser.add_argument("--no-live", action="store_true", help="plain lines instead of a live table")
    parser.add_argument("--once", action="store_true", help="end when every queue is idle")


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 if `--once` and jobs failed. Raises CommandError for what was asked wrongly."""
    require_local_extra()
    from stanchion.dev import session
    from stanchion.dev.group import parse_exec
    from stanchion.dev.run_options import RunOptions

    if not args.paths and args.app is None:
        raise CommandError("name a manifest (PATH), an application (--app MODULE:APP), or both")
    options = RunOptions(
        paths=tuple(args.paths),
        app=args.app,
        commands=dict(map(parse_exec, args.commands)),
        redis_url=args.redis_url,
        once=args.once,
    )
    return session.run(options, live=not args.no_live)


def require_local_extra() -> None:
    """Raises CommandError that says what to install, if a library of the `local` extra is missing."""
    missing = [distribution for module, distribution in NEEDED.items() if find_spec(module) is None]
    if missing:
        python = Path(sys.executable).name
        raise CommandError(
            f"{', '.join(missing)} is not installed: {python} -m pip install 'stanchion[local]'"
        )
