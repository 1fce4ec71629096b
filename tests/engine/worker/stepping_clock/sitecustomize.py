"""On a process's PYTHONPATH: its wall clock is off by the seconds that the file `TEST_CLOCK_FILE` holds."""

from __future__ import annotations

import os
import time
from pathlib import Path

true_time = time.time
offset_file = Path(os.environ["TEST_CLOCK_FILE"])


def stepped_time() -> float:
    """The time this process believes it to be."""
    return true_time() + float(offset_file.read_text())


time.time = stepped_time
