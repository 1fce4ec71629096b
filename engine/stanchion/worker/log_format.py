"""How a worker logs: one event a line on stderr, as text or JSON, with the process and the job it came from.

Set up once in each process. Every line that is logged inside a job carries the job, whoever logs it.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from stanchion.current import job_running_here
from stanchion.worker import job_log
from stanchion.worker.failure import MAX_ERROR_CHARACTERS, Failure
from stanchion.worker.options import WorkerOptions

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def set_up(who: str, options: WorkerOptions) -> None:
    """Log to stderr unless the application has set up logging of its own. `who` is this process's part."""
    if options.log_jobs == "failed":
        job_log.log.setLevel(logging.WARNING)
    if logging.getLogger().handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(who) if options.log_format == "json" else TextLines(who))
    logging.basicConfig(level=options.log_level.upper(), handlers=[handler])


def job_fields(record: logging.LogRecord) -> Iterator[tuple[str, Any]]:
    """What is known of the job a record comes from; nothing outside of jobs."""
    job = job_running_here()
    if job is not None:
        yield from (("jid", job.jid), ("job", job.name), ("queue", job.queue))
        if job.tenant is not None:
            yield "tenant", job.tenant
    for name in ("elapsed_ms", "outcome"):
        if hasattr(record, name):
            yield name, getattr(record, name)


class _Lines(logging.Formatter):
    """What both forms share: times in UTC, and stacks of a bounded length."""

    converter = staticmethod(time.gmtime)

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's name
        """The stack, without its middle if it is long: the error's message is part of it."""
        text = super().formatException(ei)
        if len(text) <= MAX_ERROR_CHARACTERS:
            return text
        kept = MAX_ERROR_CHARACTERS // 2
        return f"{text[:kept]}\n... {len(text) - 2 * kept} characters left out ...\n{text[-kept:]}"


class TextLines(_Lines):
    """For people: time, process, level, logger, message, then `name=value` of the job; a stack follows."""

    def __init__(self, who: str) -> None:
        line = f"%(asctime)s.%(msecs)03dZ %(process)d {who} %(levelname)s %(name)s: %(message)s"
        super().__init__(line, "%Y-%m-%dT%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """The line itself."""
        fields = "".join(f" {name}={_on_one_line(value)}" for name, value in job_fields(record))
        return super().formatMessage(record) + fields


class JsonLines(_Lines):
    """For machines: one object a line; an error's text and stack are fields."""

    def __init__(self, who: str) -> None:
        super().__init__(datefmt="%Y-%m-%dT%H:%M:%S")
        self._who = who

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": f"{self.formatTime(record, self.datefmt)}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "part": self._who,
            "message": record.getMessage(),
            **dict(job_fields(record)),
        }
        if record.exc_info and record.exc_info[1]:
            line["error"] = str(Failure.of(record.exc_info[1]))
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _on_one_line(value: object) -> str:
    """Payloads are written by others: a name with a line break in it must not look like a line of ours."""
    text = str(value)
    return text if text.isprintable() else repr(text)
