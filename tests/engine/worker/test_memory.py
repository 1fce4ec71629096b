"""What importing leaves behind goes back to the system."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
from pathlib import Path

import stanchion.worker.supervisor
from stanchion.worker import memory

def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])

before = resident()
memory.give_back()
print(before - resident())
"""


def test_a_process_is_smaller_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 0
