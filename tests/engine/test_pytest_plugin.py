"""The fixtures, in test suites of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

APP = """
from stanchion import App

app = App("redis://localhost:1/0")
seen = []

@app.job
def note(number: int) -> None:
    seen.append(number)
"""
TESTS = """
from shop import note, seen

def test_recorded(stanchion_calls):
    note.enqueue(1)
    assert [call.args for call in stanchion_calls] == [[1]]
    assert seen == []

def test_run(stanchion_ran):
    note.enqueue(2)
    assert seen == [2] and len(stanchion_ran) == 1
"""


def suite(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    (folder / "shop.py").write_text(APP)
    (folder / "test_shop.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
        *flags,
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_an_option_says_where_the_app_is(tmp_path: Path) -> None:
    done = suite(tmp_path, "-o", "stanchion_app=shop:app")
    assert "2 passed" in done.stdout, done.stdout


def test_a_fixture_may_say_it_instead(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import pytest, shop\n\n@pytest.fixture\ndef stanchion_app():\n    return shop.app\n"
    )
    assert "2 passed" in suite(tmp_path).stdout


def test_who_says_nothing_or_nonsense_is_told_what_to_do(tmp_path: Path) -> None:
    assert "set stanchion_app = module:attribute" in suite(tmp_path).stdout
    assert "stanchion_app = shop:nope: " in suite(tmp_path, "-o", "stanchion_app=shop:nope").stdout
