"""Validate manifests offline, as the API server would."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from stanchion.admin.apply import MANAGED_BY
from stanchion.admin.reading import Reading, read
from stanchion.admin.signatures import check_paths
from stanchion.app_loader import load_app
from stanchion.manifest.problem import Problem
from stanchion.policy.contract import encode
from stanchion.store import keys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="files, or folders without their subfolders; - reads standard input",
    )
    parser.add_argument(
        "--show", action="store_true", help="print the config hashes that `apply` would write"
    )
    parser.add_argument(
        "--app", metavar="MODULE:APP", help="compare argument paths with the jobs' signatures"
    )
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Returns 0, 1 if a manifest is refused, 2 if a path holds none."""
    reading = read(args.paths)
    problems = reading.problems
    if args.app is not None:
        problems += check_paths(reading.declared, load_app(args.app))
    for line in (*reading.skipped, *problems):
        print(line, file=sys.stderr)
    if args.json:
        print(json.dumps(_as_json(reading, problems, show=args.show), indent=2, ensure_ascii=False))
    else:
        print("\n".join(_summary(reading, problems)))
        if args.show:
            print("\n".join(_hashes(reading)))
    if reading.paths_are_wrong:
        return 2
    return 1 if problems else 0


def _summary(reading: Reading, problems: tuple[Problem, ...]) -> Iterator[str]:
    """One line a file, in the order of reading."""
    wrong = Counter(problem.file for problem in problems)
    for file in dict.fromkeys([*(each.manifest.file for each in reading.declared), *wrong]):
        kinds = Counter(each.manifest.kind for each in reading.declared if each.manifest.file == file)
        fine = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        trouble = f"{wrong[file]} problem{'s' if wrong[file] > 1 else ''}" if wrong[file] else ""
        yield f"{file}: {trouble or f'ok, {fine}'}"


def _hashes(reading: Reading) -> Iterator[str]:
    for policy in reading.policies:
        config = encode(policy, MANAGED_BY)
        yield ""
        yield keys.config(config.kind, config.name)
        width = max(map(len, config.fields))
        yield from (f"  {field:<{width}}  {value}".rstrip() for field, value in config.fields.items())


def _as_json(reading: Reading, problems: tuple[Problem, ...], *, show: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "manifests": [
            {
                "file": each.manifest.file,
                "line": each.manifest.line,
                "kind": each.manifest.kind,
                "namespace": each.manifest.namespace,
                "name": each.manifest.name,
            }
            for each in reading.declared
        ],
        "problems": [asdict(problem) for problem in problems],
    }
    if show:
        configs = [encode(policy, MANAGED_BY) for policy in reading.policies]
        answer["hashes"] = {keys.config(each.kind, each.name): dict(each.fields) for each in configs}
    return answer
