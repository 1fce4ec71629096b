"""The event loop of a child: uvloop where it can be had, which wakes and sends at half the cost."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from importlib.util import find_spec


def run(main: Coroutine[None, None, int]) -> int:
    """As `asyncio.run`."""
    if find_spec("uvloop") is None:
        return asyncio.run(main)
    import uvloop

    return uvloop.run(main)
