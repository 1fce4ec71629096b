"""docs/reference/crds.md lists the fields as the definitions have them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_page_is_not_behind_the_definitions() -> None:
    script = REPOSITORY / "scripts" / "crd_reference.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)

    assert done.returncode == 0, f"run `python scripts/crd_reference.py`\n{done.stdout}{done.stderr}"


def test_the_page_has_every_table() -> None:
    page = (REPOSITORY / "docs" / "reference" / "crds.md").read_text("utf-8")

    for kind in ("QueuePolicy", "LockPolicy", "TenantBudget"):
        assert f"<!-- fields: {kind}.spec -->\n| field |" in page
        assert f"<!-- rules: {kind} -->\n| field |" in page
