"""What a worker's processes use, descendants included, as Linux tells it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def pss_mib(pids: Iterable[int]) -> float:
    """Proportional set size."""
    return sum(_pss_kib(process) for process in tree(pids)) / 1024


def cpu_seconds(pids: Iterable[int]) -> float:
    """Processor time so far, in user mode and in the kernel."""
    return sum(_ticks(process) for process in tree(pids)) / TICKS_PER_SECOND


def tree(pids: Iterable[int]) -> Iterator[Path]:
    """These processes and all that descend from them."""
    for pid in pids:
        process = Path(f"/proc/{pid}")
        yield process
        for task in (process / "task").iterdir():
            yield from tree(map(int, (task / "children").read_text().split()))


def _pss_kib(process: Path) -> int:
    lines = (process / "smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _ticks(process: Path) -> int:
    # The name in parentheses may hold spaces; utime and stime are the 12th and 13th field after it.
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
