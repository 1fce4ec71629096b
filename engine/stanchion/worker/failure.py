"""What an exception leaves in a job's payload: Sidekiq's error fields, so that Ruby's web page shows them.

`outcome` asks for it. Pure; it must never let an application's broken exception break the worker.
"""

from __future__ import annotations

import base64
import json
import traceback
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stanchion.job import Job
from stanchion.outcomes import JobOutcome

MAX_ERROR_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception in words."""

    error_class: str
    message: str
    backtrace: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Class as `module.Class` (builtins bare), the message, the innermost frame first as in Ruby.

        Of an outcome raised `from` an error, the error is what a person wants to see.
        """
        reason = ""
        if isinstance(error, JobOutcome) and error.__cause__ is not None:
            reason, error = error.reason, error.__cause__
        kind = type(error)
        name = (
            kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        )
        codes = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
        lines = tuple(f"{code.co_filename}:{line}:in '{code.co_name}'" for code, line in reversed(codes))
        return cls(name, (reason or _words(error))[:MAX_ERROR_CHARACTERS], lines)

    def __str__(self) -> str:
        return f"{self.error_class}: {self.message}"

    def fields(self, job: Job, at: float) -> Mapping[str, Any]:
        """The payload's fields after this failure; `at` is the time as the wire has it."""
        fields: dict[str, Any] = {"error_message": self.message, "error_class": self.error_class}
        if job.retry_count is None:
            fields |= {"failed_at": at, "retry_count": 0}
        else:
            fields |= {"retried_at": at, "retry_count": job.retry_count + 1}
        wanted = job.fields.get("backtrace")
        if wanted:
            lines = self.backtrace if wanted is True else self.backtrace[: _count(wanted)]
            fields["error_backtrace"] = compress(lines)
        return fields


def without_our_frames(error: BaseException) -> None:
    """Let the error's stack begin in the application, where the worker called it."""
    frame = begin = error.__traceback__
    while frame is not None:
        if str(frame.tb_frame.f_globals.get("__name__", "")).startswith("stanchion.worker."):
            begin = frame.tb_next
        frame = frame.tb_next
    if begin is not None:
        error.__traceback__ = begin


def compress(lines: tuple[str, ...]) -> str:
    """A backtrace as Sidekiq 7 stores it: base64 of deflated JSON."""
    return base64.b64encode(zlib.compress(json.dumps(lines).encode())).decode()


def _words(error: BaseException) -> str:
    """An application's exception may fail to say what it is; the attempt has failed all the same."""
    try:
        return str(error)
    except Exception as trouble:
        return f"(no message: its __str__ raised {type(trouble).__name__})"


def _count(wanted: Any) -> int:
    return wanted if isinstance(wanted, int) and wanted > 0 else 0
