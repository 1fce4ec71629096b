"""The operator's error tree: what stopped a step, and whether trying again can help.

A `NotReady` becomes a condition on the object it concerns; everything else ends the pass with back-off.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from stanchion.errors import StanchionError

Retry = Literal["never", "slowly", "soon"]


class NotReady(StanchionError):
    """A policy cannot be carried out now. `reason` is the condition's reason, `retry` when to look again.

    never: not before the object changes. slowly: at the next resync. soon: with growing back-off.
    """

    retry: ClassVar[Retry] = "slowly"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class SpecRefused(NotReady):
    """The spec passed the schema but asks for something impossible or forbidden."""

    retry = "never"


class Missing(NotReady):
    """Something the policy names does not exist yet; its arrival is watched."""


class Unreachable(NotReady):
    """Redis did not answer. Everything stays as it is, and we try again."""

    retry = "soon"


class Taken(NotReady):
    """Somebody else owns what the policy asks for. We touch nothing."""


class ApiError(StanchionError):
    """The API server refused a request. `status` is the HTTP code, 0 if it could not be reached."""

    def __init__(self, status: int, message: str, causes: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(f"API server: {status} {message}" if status else f"API server: {message}")
        self.status = status
        self.message = message
        self.causes = causes

    @property
    def other_managers(self) -> str:
        """Who else owns the fields of a refused apply, as the server words it; empty if nobody."""
        return "; ".join(message for reason, message in self.causes if reason == "FieldManagerConflict")


class NotLeading(StanchionError):
    """The Lease may have passed to another operator: no write is allowed any more."""


class StartupFailed(StanchionError):
    """The operator cannot start: CRDs missing, no access, or settings that do not fit the cluster."""
