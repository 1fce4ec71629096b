"""The shape of the repository: what packaging, readers and other tools rely on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE_ROOTS = ("engine", "operator")
LINE_LIMIT = 400


def _tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / line for line in listed.stdout.splitlines()]


@pytest.mark.parametrize("root", SOURCE_ROOTS)
def test_source_roots_are_no_packages(root: str) -> None:
    # With an __init__.py, a checkout on sys.path would shadow the standard library's `operator`.
    assert not (ROOT / root / "__init__.py").exists()


def test_the_standard_library_operator_is_not_shadowed() -> None:
    program = "import operator, sys; print(operator.__file__); print(operator.add(1, 2))"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    origin, total = ran.stdout.split("\n")[:2]
    assert Path(origin).parent == Path(re.__file__).parents[1]
    assert total == "3"


def test_no_source_file_holds_two_nouns() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in _tracked("*.py", "*.lua", "*.go")
        if path.exists() and (lines := len(path.read_text().splitlines())) > LINE_LIMIT
    }
    assert long == {}


def test_pinned_constraints_carry_no_address() -> None:
    pinned = (ROOT / "constraints.txt").read_text()
    assert "://" not in pinned
    assert re.search(r"^redis==", pinned, re.MULTILINE)
