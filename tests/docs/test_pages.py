"""Every page of the documentation: its links lead somewhere, the index names it, its manifests are valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rig.pages import PAGES, REPOSITORY, blocks, name
from stanchion.manifest.check import validate
from stanchion.manifest.load import is_ours, load_text

INDEX = REPOSITORY / "docs" / "index.md"
MANIFESTS = sorted((REPOSITORY / "examples").rglob("*.yaml"))

LINK = re.compile(r"\[[^\]]+\]\((?!https?://|mailto:)(?P<path>[^)#]*)(?:#(?P<anchor>[^)]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, made as code hosts make them."""
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(page.read_text()))
    return {heading.replace(" ", "-") for heading in words}


def problems_of(text: str) -> list[str]:
    """What the API server would say about the manifests of our kinds in this text."""
    loaded = load_text(text)
    ours = [manifest for manifest in loaded.manifests if is_ours(manifest)]
    return [str(problem) for manifest in ours for problem in validate(manifest)[1]] + [
        str(problem) for problem in loaded.problems
    ]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.finditer(page.read_text()):
        target = (page.parent / link["path"]).resolve() if link["path"] else page
        assert target.exists(), f"{link[0]} leads nowhere"
        if link["anchor"]:
            assert link["anchor"] in anchors(target), f"{link[0]}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_manifests_on_the_page_are_valid(page: Path) -> None:
    for text in blocks(page, "yaml"):
        if "stanchion.dev/" in text and "kind:" in text:
            assert problems_of(text) == []


def test_the_index_links_every_page() -> None:
    linked = {(INDEX.parent / link["path"]).resolve() for link in LINK.finditer(INDEX.read_text())}
    assert [name(page) for page in INDEX.parent.rglob("*.md") if page not in linked | {INDEX}] == []


@pytest.mark.parametrize("path", MANIFESTS, ids=name)
def test_example_manifests_are_valid(path: Path) -> None:
    assert problems_of(path.read_text()) == []
