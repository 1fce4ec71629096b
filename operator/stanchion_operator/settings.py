"""What the operator was told: one frozen record, from flags and `STANCHION_OPERATOR_…` variables."""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from stanchion.errors import InvalidSettings

PREFIX = "STANCHION_OPERATOR_"
NAMESPACE_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("text", "json")
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def own_namespace() -> str:
    """The namespace of the pod we run in; `default` outside a cluster."""
    return NAMESPACE_FILE.read_text().strip() if NAMESPACE_FILE.exists() else "default"


def own_identity() -> str:
    """A Lease holder name that no other process has, also not our own earlier life on this host."""
    return f"{socket.gethostname()}_{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """Raises InvalidSettings when a value is out of range. Each field is a flag and a variable."""

    namespaces: tuple[str, ...] = ()
    """Namespaces to watch; none means all of them, with cluster-wide rights."""
    own_namespace: str = field(default_factory=own_namespace)
    """Where the Lease lives; its uid is half of the install id."""
    release_name: str = "stanchion"
    """The other half of the install id: two releases in one namespace are two installs."""
    identity: str = field(default_factory=own_identity)
    lease_name: str = "stanchion-operator"
    redis_secret_name: str = "stanchion-redis"  # noqa: S105 - the name of a Secret, not a secret
    """The Secret whose key `url` is used where a policy names none."""
    allowed_secret_names: tuple[str, ...] = ()
    """Further Secret names that a policy may name."""
    resync_seconds: float = 30.0
    tick_seconds: float = 5.0
    concurrency: int = 8
    """Reconciles that run at the same time."""
    health: str = "0.0.0.0:8080"
    allow_privileged_templates: bool = False
    log_level: str = "info"
    log_format: str = "text"

    def __post_init__(self) -> None:
        for name in (*self.namespaces, self.own_namespace, self.redis_secret_name, self.lease_name):
            if not DNS_LABEL.fullmatch(name) or len(name) > 63:
                raise InvalidSettings(
                    f"{name!r} is no Kubernetes name: lower case letters, digits and dashes"
                )
        if not 1 <= self.resync_seconds <= 3600:
            raise InvalidSettings(f"resync_seconds must be between 1 and 3600, not {self.resync_seconds}")
        if not 0.1 <= self.tick_seconds <= 15:
            raise InvalidSettings(f"tick_seconds must be between 0.1 and 15, not {self.tick_seconds}")
        if not 1 <= self.concurrency <= 64:
            raise InvalidSettings(f"concurrency must be between 1 and 64, not {self.concurrency}")
        if self.log_level not in LOG_LEVELS:
            raise InvalidSettings(f"log_level must be one of {', '.join(LOG_LEVELS)}, not {self.log_level!r}")
        if self.log_format not in LOG_FORMATS:
            raise InvalidSettings(
                f"log_format must be one of {', '.join(LOG_FORMATS)}, not {self.log_format!r}"
            )
        self.health_address  # noqa: B018 - raises where it cannot be read

    @property
    def cluster_wide(self) -> bool:
        """Whether every namespace is watched."""
        return not self.namespaces

    @property
    def secret_names(self) -> frozenset[str]:
        """Every Secret name a policy may use."""
        return frozenset({self.redis_secret_name, *self.allowed_secret_names})

    @property
    def health_address(self) -> tuple[str, int]:
        """Host and port of the probes. Port 0 takes a free one."""
        host, _, port = self.health.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65535:
            raise InvalidSettings(f"health must be HOST:PORT, for example 0.0.0.0:8080, not {self.health!r}")
        return host.strip("[]"), int(port)

    @classmethod
    def gather(cls, flags: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> OperatorSettings:
        """Flags beat variables, variables beat defaults. A flag that is None was not given."""
        variables = os.environ if environ is None else environ
        stated: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in flags.items()
            if value is not None
        }
        for setting in fields(cls):
            variable = PREFIX + setting.name.upper()
            if setting.name not in stated and variables.get(variable):
                stated[setting.name] = _parse(str(setting.type), variable, variables[variable])
        return cls(**stated)


def _parse(kind: str, variable: str, text: str) -> object:
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind == "bool":
        if text.lower() not in ("true", "false"):
            raise InvalidSettings(f"{variable} must be true or false, not {text!r}")
        return text.lower() == "true"
    try:
        return {"float": float, "int": int}.get(kind, str)(text)
    except ValueError:
        wanted = "a whole number" if kind == "int" else "a number"
        raise InvalidSettings(f"{variable} must be {wanted}, not {text!r}") from None
