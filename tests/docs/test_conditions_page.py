"""docs/reference/conditions.md against the conditions that the code can write."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "reference" / "conditions.md"
SOURCES = (
    *(REPOSITORY / "operator" / "stanchion_operator").rglob("*.py"),
    REPOSITORY / "engine" / "stanchion" / "scaling" / "explanation.py",
)
SAYS_A_REASON = {"Condition", "Verdict", "NotReady", "SpecRefused", "Missing", "Unreachable", "Taken"}
ROW = re.compile(
    r"^\| `(?P<type>\w+)` \| (?P<status>True|False|Unknown) \| `(?P<reason>\w+)` \|", re.MULTILINE
)
CAMEL_CASE = re.compile(r"([A-Z][a-z0-9]+)+")
EVENTS_ONLY = {"Deleted"}
"""Reasons of events on objects that are gone: no condition can show them."""


def words(source: Path) -> Iterator[str]:
    """Every string constant that is given to a call which says a reason."""
    tree = ast.parse(source.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SAYS_A_REASON:
            for argument in node.args:
                for constant in ast.walk(argument):
                    if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                        yield constant.value


def test_every_reason_of_the_code_is_on_the_page() -> None:
    said = {word for source in SOURCES for word in words(source) if CAMEL_CASE.fullmatch(word)}
    listed = {word for row in ROW.finditer(PAGE.read_text()) for word in (row["type"], row["reason"])}
    assert said - listed - EVENTS_ONLY == set()


def test_every_reason_on_the_page_is_in_the_code() -> None:
    code = "\n".join(source.read_text() for source in SOURCES)
    for row in ROW.finditer(PAGE.read_text()):
        assert f'"{row["type"]}"' in code, row[0]
        assert f'"{row["reason"]}"' in code, row[0]
