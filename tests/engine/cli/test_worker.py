"""`stanchion worker` answers what it cannot do with one line and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stanchion.cli.main import main

BROKEN = "import stanchion\napp = stanchion.App()\nnot_an_app = 7\n"


def worker(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stanchion", "worker", *arguments],
        cwd=folder,
        env={**os.environ, "STANCHION_REDIS_URL": "redis://127.0.0.1:1/0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-q", "a b"], "queue name 'a b'"),
        (["-q", "mail,0"], "weight of queue mail"),
        (["-q", "mail", "-q", "mail"], "given twice"),
        (["-q", "mail", "-c", "0"], "concurrency must be from 1 to 1000, not 0"),
        (["-q", "mail", "--processes", "0"], "processes must be from 1"),
        (["-q", "mail", "--queue-order", "Fair"], "must be one of Strict, Weighted, Random, not 'Fair'"),
        (["-q", "mail", "--http", "nowhere"], "HOST:PORT"),
        (["-q", "mail", "--drain-timeout-seconds", "-1"], "drain-timeout-seconds"),
    ],
)
def test_refuses_bad_flags(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worker", "shop:app", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert words in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("no_such_module:app", "no module 'no_such_module'"),
        ("shop:missing", "did you mean shop:app?"),
        ("shop:not_an_app", "is a int, no stanchion.App"),
        ("shop", "MODULE:ATTRIBUTE"),
    ],
)
def test_refuses_an_app_it_cannot_load(app: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(BROKEN)
    ended = worker(tmp_path, app, "-q", "mail")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_refuses_a_url_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(BROKEN)
    ended = worker(tmp_path, "shop:app", "-q", "mail", "--redis-url", "http://localhost")
    assert ended.returncode == 2
    assert "must begin with redis://" in ended.stderr
