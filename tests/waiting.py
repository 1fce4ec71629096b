"""Bounded waiting for something another process does, and a look at whether it still lives."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

POLL_SECONDS = 0.02


def until(condition: Callable[[], object], *, timeout_seconds: float = 10.0) -> None:
    """Return once `condition()` is true. Raises AssertionError when the time is up."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        assert time.monotonic() < deadline, f"still not true after {timeout_seconds} s"
        time.sleep(POLL_SECONDS)


async def auntil(condition: Callable[[], object], *, timeout_seconds: float = 10.0) -> None:
    """As `until`, without blocking the event loop."""
    async with asyncio.timeout(timeout_seconds):
        while not condition():  # noqa: ASYNC110  # what is awaited happens in another process
            await asyncio.sleep(POLL_SECONDS)


def is_running(pid: int) -> bool:
    """Whether a process runs. A zombie that nobody has reaped does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return not state.startswith("Z")
