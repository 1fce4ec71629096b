"""Every `stanchion` command in a console block of the documentation is one that the command line takes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from importlib import import_module
from itertools import takewhile

import pytest

from rig.pages import PAGES, blocks, name
from stanchion.cli.main import main

PROMPT = {"console": "$ ", "sh": ""}
"""What stands before a command in a block of that language; other lines are output."""
END = {"&&", "|", "&", ";"}


def commands() -> Iterator[tuple[str, list[str]]]:
    """The page and the words of each command, without what follows in a pipe or a list."""
    for page in PAGES:
        for language, prompt in PROMPT.items():
            for text in blocks(page, language):
                for line in text.replace("\\\n", " ").splitlines():
                    if line.startswith(f"{prompt}stanchion "):
                        words = shlex.split(line.removeprefix(prompt), comments=True)
                        yield name(page), list(takewhile(lambda word: word not in END, words))[1:]


@pytest.mark.parametrize(("page", "words"), list(commands()))
def test_the_command_is_taken(page: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module(f"stanchion.cli.{words[0]}"), "run", lambda args: 0)
    assert main(words) == 0, page
