"""`stanchion-operator run`: flags and variables become settings, errors become one line and an exit code."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from importlib.metadata import version

from stanchion.errors import StanchionError
from stanchion_operator.settings import LOG_FORMATS, LOG_LEVELS, PREFIX, OperatorSettings


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script. Returns 0 stopped on request, 1 failed, 2 wrong settings."""
    flags = vars(_parser().parse_args(argv))
    flags.pop("command")
    try:
        settings = OperatorSettings.gather(flags)
        # Imported late: `--help` and a wrong flag need neither kopf nor the Kubernetes client.
        from stanchion_operator import app, logs

        logs.configure(settings.log_level, settings.log_format)
        asyncio.run(app.run(settings))
    except StanchionError as error:
        print(f"stanchion-operator: error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stanchion-operator", description="The Stanchion operator.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"stanchion-operator {version('stanchion')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    run = commands.add_parser(
        "run",
        help="watch policies, write config hashes, run and scale workers",
        description=f"Runs until SIGTERM. Each flag has a variable, {PREFIX} and its name in capitals.",
        allow_abbrev=False,
    )
    add_arguments(run)
    return parser


def add_arguments(run: argparse.ArgumentParser) -> None:
    """One flag for each field of OperatorSettings; an absent flag leaves the variable or the default."""
    run.add_argument(
        "--namespace",
        dest="namespaces",
        metavar="NAME",
        action="append",
        help="watch this namespace only; may be repeated (default: every namespace)",
    )
    run.add_argument("--own-namespace", metavar="NAME", help="where the Lease lives (default: the pod's)")
    run.add_argument("--release-name", metavar="NAME", help="part of the install id (default: stanchion)")
    run.add_argument("--identity", metavar="NAME", help="name of this process in the Lease")
    run.add_argument("--lease-name", metavar="NAME", help="(default: stanchion-operator)")
    run.add_argument(
        "--redis-secret-name", metavar="NAME", help="Secret with the Redis URL (default: stanchion-redis)"
    )
    run.add_argument(
        "--allowed-secret-name",
        dest="allowed_secret_names",
        metavar="NAME",
        action="append",
        help="a further Secret that policies may name; may be repeated",
    )
    run.add_argument("--resync-seconds", type=float, help="every policy is looked at so often (default: 30)")
    run.add_argument("--tick-seconds", type=float, help="the autoscaler looks so often (default: 5)")
    run.add_argument("--concurrency", type=int, help="reconciles at the same time (default: 8)")
    run.add_argument("--health", metavar="HOST:PORT", help="probes and metrics (default: 0.0.0.0:8080)")
    run.add_argument(
        "--allow-privileged-templates",
        action=argparse.BooleanOptionalAction,
        help="let workers.template set what the restricted Pod Security standard forbids",
    )
    run.add_argument("--log-level", choices=LOG_LEVELS, help="(default: info)")
    run.add_argument("--log-format", choices=LOG_FORMATS, help="(default: text)")
