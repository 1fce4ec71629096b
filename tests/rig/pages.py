"""The documentation as data: its pages, and the code blocks on a page."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path for root in ("docs", "examples", "images") for path in (REPOSITORY / root).rglob("*.md")
) + [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```", re.DOTALL | re.MULTILINE)


def name(path: Path) -> str:
    """A file's path in the repository: the id of its test."""
    return str(path.relative_to(REPOSITORY))


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language, in order."""
    found = BLOCK.finditer(page.read_text())
    return [block["text"] for block in found if block["language"] == language]
