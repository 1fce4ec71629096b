"""What the environment says: one frozen record, read once, validated where it is made.

Each field has one variable, `STANCHION_` and the field's name in capitals. An argument beats the
environment, the environment beats the default. `docs/reference/settings.md` lists them, and a test holds
the two together.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from stanchion.dialect import WIRES
from stanchion.errors import InvalidSettings

PREFIX = "STANCHION_"
ON_REFUSED = ("raise", "return")
LOG_FORMATS = ("text", "json")
LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_JOBS = ("all", "failed")


@dataclass(frozen=True, slots=True)
class Settings:
    """Process-wide settings of clients and workers. Raises InvalidSettings when a value is out of range."""

    redis_url: str = "redis://localhost:6379/0"
    """Where the queues are: redis://, rediss://, unix:// or redis+sentinel://."""
    client_timeout_seconds: float = 5.0
    """How long one enqueue may wait for Redis, retries included, before RedisUnavailable."""
    jid_memory_seconds: int = 86_400
    """How long an explicit `jid=` is remembered, so that an outbox can send again."""
    on_refused: str = "raise"
    """What a refusal does: `raise` Refused, or `return` the verdict."""
    wire: str = "auto"
    """The Sidekiq version to write for: `6`, `7`, `8`, or `auto`: what the live Ruby processes understand."""
    log_format: str = "text"
    """How workers log: `text` for people, `json` for machines."""
    log_level: str = "info"
    """What workers log: `debug`, `info`, `warning` or `error`."""
    log_jobs: str = "all"
    """Which jobs get a line when they end: `all`, or those that `failed` or expired."""

    def __post_init__(self) -> None:
        if self.client_timeout_seconds <= 0:
            raise InvalidSettings(
                f"client_timeout_seconds must be above 0, not {self.client_timeout_seconds}"
            )
        if self.jid_memory_seconds < 1:
            raise InvalidSettings(f"jid_memory_seconds must be 1 or more, not {self.jid_memory_seconds}")
        _check_word("on_refused", self.on_refused, ON_REFUSED)
        _check_word("wire", self.wire, WIRES)
        _check_word("log_format", self.log_format, LOG_FORMATS)
        _check_word("log_level", self.log_level, LOG_LEVELS)
        _check_word("log_jobs", self.log_jobs, LOG_JOBS)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """What the environment states, defaults elsewhere. Raises InvalidSettings, naming the variable."""
        variables = os.environ if environ is None else environ
        stated: dict[str, Any] = {}
        for setting in fields(cls):
            variable = PREFIX + setting.name.upper()
            text = variables.get(variable, "")
            if not text:
                continue
            kind = {"float": float, "int": int}.get(str(setting.type), str)
            try:
                stated[setting.name] = kind(text)
            except ValueError:
                wanted = "a whole number" if kind is int else "a number"
                raise InvalidSettings(f"{variable} must be {wanted}, not {text!r}") from None
        return cls(**stated)

    def with_redis_url(self, redis_url: str | None) -> Settings:
        """These settings with another Redis, where one is given."""
        return replace(self, redis_url=redis_url) if redis_url else self


def _check_word(name: str, word: str, allowed: tuple[str, ...]) -> None:
    if word not in allowed:
        raise InvalidSettings(f"{name} must be one of {', '.join(allowed)}, not {word!r}")
