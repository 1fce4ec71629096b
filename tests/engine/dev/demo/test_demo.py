"""The whole demo as a newcomer runs it: it ends by itself, adds up, and leaves nothing behind."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

LONGEST_SECONDS = 120


@pytest.mark.redis
@pytest.mark.timeout(2 * LONGEST_SECONDS)
def test_the_demo_ends_in_time_and_its_receipt_adds_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    began = time.monotonic()
    demo = subprocess.run(
        [sys.executable, "-m", "stanchion", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert time.monotonic() - began < LONGEST_SECONDS
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert demo.stderr == ""
    assert list(tmp_path.iterdir()) == []

    figures = {
        name: tuple(float(text.replace(",", "")) for text in re.findall(r"[\d.,]+", line[len(name) :]))
        for line in demo.stdout.splitlines()
        for name in ("jobs pushed", "jobs run", "runs too many", "jobs lost", "seconds over target")
        if line.startswith(name)
    }
    (gated_pushed, plain_pushed), (gated_ran, plain_ran) = figures["jobs pushed"], figures["jobs run"]
    assert gated_pushed == plain_pushed > 900
    assert figures["jobs lost"] == (gated_pushed - gated_ran, plain_pushed - plain_ran)
    assert gated_ran == gated_pushed
    # The killed plain worker held up to ten jobs; nobody can give them back.
    assert 1 <= figures["jobs lost"][1] <= 10
    assert re.search(r"2 → \d workers", demo.stdout), "the gated side never scaled out"
    assert demo.stdout.count("The first job had run ") == 2, "told at once and at the end"
