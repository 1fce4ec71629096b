"""What queues an application's code names is asked of another process, whatever its import does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stanchion.dev.app_queues import queues_of
from stanchion.errors import CommandError

APP = """
import stanchion
print("imported", end="")
app = stanchion.App()
app.job(name="a", queue="mail")(len)
app.job(name="b", queue="imports")(len)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_queues_of_all_jobs_are_named_and_nothing_is_imported_here(folder: Path) -> None:
    (folder / "queues_of_this_test.py").write_text(APP)
    assert queues_of("queues_of_this_test:app") == {"mail", "imports"}
    assert "queues_of_this_test" not in sys.modules


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1", "has no attribute 'app'; it holds no stanchion.App"),
        ("this is no Python", "line 1"),
        ("import os; os._exit(3)", "ended its process"),
    ],
)
def test_code_that_cannot_be_imported_is_a_wrong_command(folder: Path, code: str, message: str) -> None:
    (folder / "broken_in_this_test.py").write_text(code)
    with pytest.raises(CommandError, match=message):
        queues_of("broken_in_this_test:app")
