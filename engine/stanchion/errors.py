"""The error tree of the engine: every error a caller may see, and the exit code a command ends with.

Everything is a `StanchionError`. A message says what is wrong, where, and what to do about it; the
command line prints it on one line and never a traceback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stanchion.verdict import Verdict


class StanchionError(Exception):
    """Base of all errors raised on purpose. `exit_code` is what a command returns for it."""

    exit_code = 1


class CommandError(StanchionError):
    """The command line, a file it names or a setting was wrong; nothing was done."""

    exit_code = 2


class InvalidSettings(CommandError):
    """A setting (argument or `STANCHION_…` variable) is missing, unknown or out of range."""


class InvalidArguments(CommandError, TypeError):
    """A call does not fit the job's signature, or JSON cannot carry one of its arguments."""


class UnfitPayload(InvalidArguments):
    """A worker's code does not take the arguments of a payload: the job has not run."""


class UnknownJob(CommandError, LookupError):
    """No job of that name is registered, or its JobSet is included in no App."""


class InvalidPolicy(CommandError, ValueError):
    """A manifest passed its schema but says something impossible. `field` is the path, e.g. `spec.lock`."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class MalformedPayload(StanchionError, ValueError):
    """Bytes in a queue are no job: not JSON, not an object, or without a class or jid."""


class RedisUnavailable(StanchionError, ConnectionError):
    """Redis cannot be reached, refuses the password, or is loading. Retrying later may help."""


class Refused(StanchionError):
    """The gate did not accept a job. `verdict` says why; nothing was enqueued."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"job {verdict.jid} was refused: {verdict.reason}")
        self.verdict = verdict


class TimeLimitExceeded(StanchionError, TimeoutError):
    """An attempt took longer than the job's `timeout_seconds`: a failure like any other."""


class LeaseLost(StanchionError):
    """This process was declared dead and its jobs were returned; it must start a new life."""
