"""Enqueue one job by name and print the verdict.

Arguments are JSON where they read as JSON, else text: `stanchion enqueue mail.welcome 7 '{"lang": "de"}'`.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from stanchion.admin.known_job import known_job
from stanchion.app import App
from stanchion.app_loader import load_app
from stanchion.errors import InvalidArguments
from stanchion.verdict import Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("job", metavar="JOB", help="the job's name, e.g. catalog.import_catalog")
    parser.add_argument(
        "arguments",
        metavar="ARG",
        nargs="*",
        help="positional arguments, then one JSON object with the keyword-only ones, if the job has any",
    )
    parser.add_argument("-q", "--queue", help="default: as the job declares with --app, else 'default'")
    when = parser.add_mutually_exclusive_group()
    when.add_argument(
        "--delay", type=float, metavar="SECONDS", help="start no sooner than in so many seconds"
    )
    when.add_argument("--at", type=_time, metavar="TIME", help="start no sooner; ISO 8601 or epoch seconds")
    parser.add_argument(
        "--expires-in", type=float, metavar="SECONDS", help="begin no later than so long after it is due"
    )
    parser.add_argument("--tenant", help="the tenant this job counts for")
    parser.add_argument("--jid", help="the job's id; a second call with it changes nothing")
    parser.add_argument("--traceparent", help="the W3C trace this call belongs to")
    parser.add_argument("--app", metavar="MODULE:APP", help="check the arguments against the job's signature")
    parser.add_argument("--redis-url", metavar="URL", help="default: STANCHION_REDIS_URL, else localhost")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 if the job was refused."""
    app = App(args.redis_url) if args.app is None else load_app(args.app, redis_url=args.redis_url)
    if args.app is not None:
        known_job(app, args.job)
    verdict = app.enqueue(
        args.job,
        [_argument(text) for text in args.arguments],
        queue=args.queue,
        delay=args.delay,
        at=args.at,
        expires_in=args.expires_in,
        tenant=args.tenant,
        jid=args.jid,
        traceparent=args.traceparent,
        on_refused="return",
    )
    print(_as_json(verdict) if args.json else _as_text(verdict))
    return 1 if verdict.status == "refused" else 0


def _argument(text: str) -> Any:
    """JSON, else the text itself. What begins as an object or array was meant as JSON, so it must parse."""
    try:
        return json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith(("{", "[")):
            raise InvalidArguments(f"the argument {text!r} is no JSON: {error}") from None
        return text


def _not_json(name: str) -> float:
    raise ValueError(f"{name} is a word, no JSON number")


def _time(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time; write 2026-11-30T21:00:00Z, or epoch seconds"
        ) from None
    if at.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r} has no time zone; add Z or an offset such as +02:00")
    return at.timestamp()


def _as_json(verdict: Verdict) -> str:
    return json.dumps({**asdict(verdict), "accepted": verdict.accepted})


def _as_text(verdict: Verdict) -> str:
    words: list[str] = [verdict.status, verdict.jid]
    if verdict.holder is not None:
        words.append(f"held by {verdict.holder}")
    if verdict.until is not None:
        words.append(f"until {datetime.fromtimestamp(verdict.until, UTC).isoformat(timespec='seconds')}")
    if verdict.reason is not None:
        words.append(f"({verdict.reason})")
    return " ".join(words)
