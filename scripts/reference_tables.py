"""Fills the tables of docs/reference from the code: flags, settings and metrics.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; the prose around it is written by hand.
Run after a change: `python scripts/reference_tables.py`. With `--check` nothing is written and the exit
code is 1 if a page is behind; a test runs that.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path

from prometheus_client import Counter, Gauge, Histogram

from stanchion import metrics as engine_metrics
from stanchion.cli.main import COMMANDS
from stanchion.settings import PREFIX, Settings
from stanchion_operator import cli as operator_cli
from stanchion_operator import metrics as operator_metrics
from stanchion_operator.settings import PREFIX as OPERATOR_PREFIX

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
TABLE = re.compile(r"(<!-- table: (?P<name>[\w.]+) -->\n).*?(<!-- end -->)", re.DOTALL)

Rows = list[tuple[str, ...]]


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command of `stanchion`; of one that has verbs, every verb."""
    for name in COMMANDS:
        parser = argparse.ArgumentParser(prog=f"stanchion {name}")
        import_module(f"stanchion.cli.{name}").add_arguments(parser)
        verbs = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if not verbs:
            yield name, parser
        for action in verbs:
            yield from ((f"{name}.{verb}", verb_parser) for verb, verb_parser in action.choices.items())


def flag_rows(parser: argparse.ArgumentParser) -> Rows:
    """One row an argument: how it is written, and its help."""
    rows: Rows = [("argument", "meaning")]
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        names = ", ".join(action.option_strings) or str(action.metavar or action.dest)
        value = ""
        if action.option_strings and action.nargs != 0:
            value = f" {action.metavar or '|'.join(action.choices or ()) or action.dest.upper()}"
        text = (action.help or "") % {**vars(action), "prog": parser.prog}
        rows.append((f"`{names}{value}`", text))
    return rows


def setting_rows() -> Rows:
    """One row a variable of the engine: its default, and the text under the field."""
    rows: Rows = [("variable", "default", "meaning")]
    texts = field_texts(Settings)
    for setting in fields(Settings):
        rows.append((f"`{PREFIX}{setting.name.upper()}`", f"`{setting.default}`", texts[setting.name]))
    return rows


def field_texts(record: type) -> dict[str, str]:
    """The string that stands under each field of a dataclass."""
    source = ast.parse(textwrap.dedent(inspect.getsource(record)))
    body = next(node.body for node in source.body if isinstance(node, ast.ClassDef))
    texts = {}
    for statement, following in itertools.pairwise(body):
        match statement, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
    return texts


def operator_rows() -> Rows:
    """One row a flag of the operator, with its variable."""
    parser = argparse.ArgumentParser(prog="stanchion-operator run")
    operator_cli.add_arguments(parser)
    rows: Rows = [("flag", "variable", "meaning")]
    for action, (flag, text) in zip(parser._actions[1:], flag_rows(parser)[1:], strict=True):
        rows.append((flag, f"`{OPERATOR_PREFIX}{action.dest.upper()}`", text))
    return rows


def engine_metric_rows() -> Rows:
    """One row a series of a worker."""
    rows: Rows = [("series", "type", "labels", "meaning")]
    for series in engine_metrics.ALL:
        suffix = "_total" if series.kind == engine_metrics.Kind.COUNTER else ""
        labels = ", ".join(f"`{label}`" for label in series.labels)
        rows.append((f"`{series.name}{suffix}`", str(series.kind), labels, series.help))
    return rows


def operator_metric_rows() -> Rows:
    """One row a series of the operator."""
    rows: Rows = [("series", "type", "labels", "meaning")]
    for collector in vars(operator_metrics).values():
        if isinstance(collector, (Counter, Gauge, Histogram)):
            [metric] = collector.describe()
            suffix = "_total" if metric.type == "counter" else ""
            labels = ", ".join(f"`{label}`" for label in collector._labelnames)
            rows.append((f"`{metric.name}{suffix}`", metric.type, labels, metric.documentation))
    return rows


def tables() -> dict[str, Callable[[], Rows]]:
    """Every table by its name."""
    flags = {f"cli.{name}": lambda parser=parser: flag_rows(parser) for name, parser in commands()}
    return {
        **flags,
        "settings.engine": setting_rows,
        "settings.operator": operator_rows,
        "metrics.engine": engine_metric_rows,
        "metrics.operator": operator_metric_rows,
    }


def markdown(rows: Rows) -> str:
    """A table; a bar inside a cell is escaped."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines) + "\n"


def filled(page: str, known: dict[str, Callable[[], Rows]]) -> str:
    """The page with its tables as the code has them now."""
    return TABLE.sub(lambda found: f"{found[1]}{markdown(known[found['name']]())}{found[3]}", page)


def main() -> int:
    parser = argparse.ArgumentParser(description="Fill the tables of docs/reference from the code.")
    parser.add_argument("--check", action="store_true", help="only say which pages are behind")
    check_only = parser.parse_args().check
    known = tables()
    used = {found["name"] for path in PAGES.glob("*.md") for found in TABLE.finditer(path.read_text())}
    behind = [f"no page has the table {name}" for name in known.keys() - used]
    for path in sorted(PAGES.glob("*.md")):
        now = path.read_text()
        if (wanted := filled(now, known)) != now:
            behind.append(f"{path.name}: tables differ from the code")
            if not check_only:
                path.write_text(wanted)
    print("\n".join(behind))
    return 1 if check_only and behind else 0


if __name__ == "__main__":
    sys.exit(main())
