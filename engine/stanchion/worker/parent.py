"""A child never outlives its supervisor: nobody would beat for it, and its jobs would run twice."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with(parent_pid: int) -> None:
    """Ask the kernel for SIGKILL when the parent ends (Linux), then see whether it has ended already: the
    signal is lost when the parent dies before it was asked for. Elsewhere the end of the link serves.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(1)
