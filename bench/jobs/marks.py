"""What a Python job leaves behind: the time at which two numbered jobs passed, and how late a job began.

Most jobs do nothing but one comparison: what is measured is the engine.
"""

from __future__ import annotations

import os
import time

OUT = os.environ["BENCH_OUT"]
FIRST, LAST = map(int, os.environ.get("BENCH_MARKS", "0,0").split(","))


def pass_by(number: int) -> None:
    """Note the time of the first and the last job that count."""
    if number in (FIRST, LAST):
        write(f"{number} {time.time()}")


def late(pushed_at: float) -> None:
    """Note how long a job waited, in seconds."""
    write(f"late {time.time() - pushed_at}")


def write(line: str) -> None:
    """Append at once: several processes write to one file."""
    handle = os.open(OUT, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)
