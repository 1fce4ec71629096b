"""The public API as a type checker sees it, here and from an application that only installed us."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("typing_cases.py")


@pytest.mark.timeout(300)
def test_a_strict_checker_in_an_applications_folder_sees_every_type(tmp_path: Path) -> None:
    # A folder of its own and no configuration: what finds `stanchion` is the installation alone.
    shutil.copy(CASES, tmp_path / "cases.py")
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "cases.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.stdout.startswith("Success: no issues found"), checked.stdout + checked.stderr
