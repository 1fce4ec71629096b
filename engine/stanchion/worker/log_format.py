"""How a worker logs: one line an event on stderr, with the process it came from."""

from __future__ import annotations

import logging
import sys
import time


def set_up(who: str) -> None:
    """Log to stderr unless the application has set up logging of its own."""
    if logging.getLogger().handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    formatter = logging.Formatter(
        f"%(asctime)s.%(msecs)03dZ %(process)d {who} %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S"
    )
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
