"""Waiting for a signal, with a bound."""

import time
from collections.abc import Callable
from typing import TypeVar

from testcluster.errors import TimedOut

Found = TypeVar("Found")


def wait_until(check: Callable[[], Found | None], what: str, timeout_seconds: float) -> Found:
    """The first truthy answer of `check`; raises TimedOut naming `what` when none comes in time.

    `check` may raise ClusterError to give up early, for example because a process has died.
    """
    deadline = time.monotonic() + timeout_seconds
    while True:
        if found := check():
            return found
        if time.monotonic() > deadline:
            raise TimedOut(f"waited {timeout_seconds:g} s in vain for {what}")
        time.sleep(0.05)  # other processes give no signal that could be awaited
