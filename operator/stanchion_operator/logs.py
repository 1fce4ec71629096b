"""How the operator logs: lines for people, or one JSON object a line for machines. Set once, by `cli`."""

from __future__ import annotations

import json
import logging
import sys

QUIET = ("kopf.objects", "aiohttp.access", "kopf._core.engines.posting")
"""Loggers that say something on every event of every object."""


def configure(level: str, form: str) -> None:
    """Send everything at or above `level` to stderr, in the given form (`text` or `json`)."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonLines()
        if form == "json"
        else logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    """Time, level, logger, message; with the traceback of an error."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)
