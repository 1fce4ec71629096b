"""Memory that start-up left behind: freed, but kept by the allocator.

Reading large modules leaves holes in glibc's heap that it does not give back by itself: 13 of the 40 MiB that
a process has after importing redis-py 8.1 and asyncio (CPython 3.11). Called once by the supervisor and by
each child, when what they import is there.
"""

from __future__ import annotations

import ctypes
import gc


def give_back() -> None:
    """Give what is free back to the system; where the C library knows no such call, nothing happens."""
    gc.collect()
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # musl and macOS have their own ways
        return
    trim(0)
