"""Show the effective settings of a job and where each comes from."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from stanchion.admin.explain import Explanation, explain
from stanchion.admin.reading import read
from stanchion.app_loader import load_app
from stanchion.errors import CommandError
from stanchion.gate.config import ConfigCache, ConfigView, view_of
from stanchion.settings import Settings
from stanchion.store import connection, keys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("job", metavar="JOB", help="the job's name, e.g. catalog.import_catalog")
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="manifests (files, or folders without their subfolders) to read instead of the config in Redis",
    )
    parser.add_argument("--app", metavar="MODULE:APP", help="what code says; without it only policies count")
    parser.add_argument("-q", "--queue", help="as if the call named this queue")
    parser.add_argument("--redis-url", metavar="URL", help="default: STANCHION_REDIS_URL, else localhost")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Returns 0. Raises CommandError for bad manifests and unknown jobs, RedisUnavailable."""
    if args.paths and args.redis_url:
        raise CommandError("PATH and --redis-url are two sources of config: give one of them")
    app = load_app(args.app) if args.app is not None else None
    view, paused = (_from_manifests(args.paths), frozenset[str]()) if args.paths else _from_redis(args)
    explanation = explain(args.job, view, app=app, queue=args.queue, paused_queues=paused)
    print(_as_json(explanation) if args.json else _as_text(explanation))
    return 0


def _from_manifests(paths: list[str]) -> ConfigView:
    reading = read(paths, one_redis=True)
    if reading.problems:
        for problem in reading.problems:
            print(problem, file=sys.stderr)
        raise CommandError("the manifests are not valid; nothing can be explained from them")
    return view_of(reading.policies)


def _from_redis(args: argparse.Namespace) -> tuple[ConfigView, frozenset[str]]:
    url = Settings.from_environ().with_redis_url(args.redis_url).redis_url
    with connection.readable_errors(url), connection.connect(url, name="stanchion-explain") as client:
        paused = frozenset(name.decode() for name in client.smembers(keys.PAUSED))
        cache = ConfigCache()
        view = cache.refresh(client)
    for problem in cache.problems:
        print(f"stanchion: warning: {problem}", file=sys.stderr)
    return view, paused


def _as_json(explanation: Explanation) -> str:
    return json.dumps(asdict(explanation), indent=2, ensure_ascii=False)


def _as_text(explanation: Explanation) -> str:
    rows = [(setting.name, _text(setting.value), setting.source) for setting in explanation.settings]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{name:<{widths[0]}}  {value:<{widths[1]}}  {source}" for name, value, source in rows]
    lines += [f"shadowed: {policy}" for policy in explanation.shadowed]
    return "\n".join(lines)


def _text(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
