"""run jobs"""

from __future__ import annotations

import argparse

from stanchion.errors import InvalidSettings
from stanchion.settings import LOG_FORMATS, LOG_JOBS, LOG_LEVELS, Settings
from stanchion.worker import supervisor
from stanchion.worker.options import QUEUE_ORDERS, QueueWeight, WorkerOptions

DEFAULTS = WorkerOptions(app="", queues=(QueueWeight("default"),))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of `stanchion worker`."""
    parser.add_argument("app", metavar="MODULE:APP", help="the application, e.g. shop.jobs:app")
    parser.add_argument(
        *("-q", "--queue"), dest="queues", action="append", required=True, metavar="QUEUE[,WEIGHT]",
        help="a queue to serve; repeat it for more, the most urgent first",
    )  # fmt: skip
    parser.add_argument(
        *("-c", "--concurrency"), type=int, default=DEFAULTS.concurrency, metavar="N",
        help="jobs each process runs at once (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--processes",
        type=int,
        default=DEFAULTS.processes,
        metavar="N",
        help="child processes (default %(default)s)",
    )
    parser.add_argument(
        "--drain-timeout-seconds", type=float, default=DEFAULTS.drain_timeout_seconds, metavar="S",
        help="time for running jobs to end after TERM; the rest return to their queues (default %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--queue-order", default=DEFAULTS.queue_order, metavar="ORDER",
        help=f"{', '.join(order.title() for order in QUEUE_ORDERS)} (default Strict: as given)",
    )  # fmt: skip
    parser.add_argument("--http", metavar="HOST:PORT", help="serve /healthz, /readyz and /metrics")
    parser.add_argument("--redis-url", metavar="URL", help="default: STANCHION_REDIS_URL, else the app's")
    parser.add_argument("--tag", default="", help="shown on Sidekiq's web page")
    parser.add_argument(
        "--wire",
        metavar="auto|6|7|8",
        help="Sidekiq version to write for (default: STANCHION_WIRE or auto)",
    )
    parser.add_argument(
        "--log-format", choices=LOG_FORMATS, metavar="|".join(LOG_FORMATS),
        help="how lines are written (default: STANCHION_LOG_FORMAT or text)",
    )  # fmt: skip
    parser.add_argument(
        "--log-level", choices=LOG_LEVELS, metavar="|".join(LOG_LEVELS),
        help="what is logged (default: STANCHION_LOG_LEVEL or info)",
    )  # fmt: skip
    parser.add_argument(
        "--log-jobs", choices=LOG_JOBS, metavar="|".join(LOG_JOBS),
        help="which jobs get a line when they end (default: STANCHION_LOG_JOBS or all)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run until TERM. Raises CommandError or InvalidSettings for what was asked wrongly."""
    if args.queue_order.lower() not in QUEUE_ORDERS:
        orders = ", ".join(order.title() for order in QUEUE_ORDERS)
        raise InvalidSettings(f"--queue-order must be one of {orders}, not {args.queue_order!r}")
    settings = Settings.from_environ()
    options = WorkerOptions(
        app=args.app,
        queues=tuple(QueueWeight.parse(queue) for queue in args.queues),
        concurrency=args.concurrency,
        processes=args.processes,
        drain_timeout_seconds=args.drain_timeout_seconds,
        queue_order=args.queue_order.lower(),
        http=args.http,
        redis_url=args.redis_url,
        tag=args.tag,
        wire=args.wire,
        log_format=args.log_format or settings.log_format,
        log_level=args.log_level or settings.log_level,
        log_jobs=args.log_jobs or settings.log_jobs,
    )
    return supervisor.run(options)
