"""The generated tables of docs/reference are those of the code as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "reference_tables.py"


def test_no_page_is_behind_the_code() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `python scripts/reference_tables.py`\n{done.stdout}{done.stderr}"
