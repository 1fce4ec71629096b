"""Finds the command, runs it, and turns our errors into one line and an exit code.

Each command is a module of this package with `add_arguments(parser)` and `run(args) -> int`. Only the
module of the command that was asked for is imported, so `stanchion worker` never loads what `dev` needs.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version

from stanchion.errors import StanchionError

COMMANDS = {
    "demo": "a two-minute tour: the same load on a gated and on a plain queue, side by side",
    "dev": "run declared queues on this machine: Redis, workers, scaling, a live view",
    "worker": "run jobs",
    "enqueue": "enqueue one job and print the verdict",
    "check": "validate manifests offline, as the API server would",
    "apply": "write the config hashes of manifests to a Redis, without Kubernetes",
    "explain": "show the effective settings of a job and where each comes from",
    "queue": "list, pause, unpause, clear and delete queues",
    "job": "list a queue's ready jobs; show, delete or cancel one, wherever it is",
    "schedule": "look at jobs enqueued for later; run or delete them",
    "retry": "look at jobs that wait for a retry; run them now, kill or delete them",
    "dead": "look at dead jobs; retry or delete them",
    "periodic": "list the periodic jobs that workers have declared, and when they run next",
    "process": "list the worker processes, Ruby's too; quiet or stop them",
    "doctor": "look over any Sidekiq's Redis, read-only: what is wrong, what will work",
    "why": "find a job wherever it is: what it waits for, and the next command",
}
EXIT_INTERRUPTED = 130
WORD = re.compile(r"(?!-)|-[0-9.]")
"""What begins no option: anything without a dash, and a negative number."""


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script. Returns 0 done, 1 the work failed, 2 the command was wrong."""
    try:
        # Around the command's imports, too: they take long enough for a Ctrl-C.
        return _run(list(sys.argv[1:] if argv is None else argv))
    except StanchionError as error:
        print(f"stanchion: error: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output (head, a closed pager) has gone: not an error of ours.
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    parser = _parser(arguments)
    args, rest = parser.parse_known_args(arguments)
    if rest and not _taken(args, rest):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    code: int = args.run(args)
    return code


def _taken(args: argparse.Namespace, rest: Sequence[str]) -> bool:
    """Words after an option, as in `enqueue JOB --app shop:app 7`: argparse gives a list of arguments only
    those before. False if an option is among them, or the command takes no such list."""
    if "arguments" not in args or any(not WORD.match(word) for word in rest):
        return False
    args.arguments += rest
    return True


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stanchion", description="A gate in front of your Redis queue.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"stanchion {version('stanchion')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    asked = next((word for word in arguments if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        if name == asked:
            module = import_module(f"stanchion.cli.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser
