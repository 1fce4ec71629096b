"""The fields of each kind of config hash: their names, their types, and the text they are stored as.

A field is named by its path in the manifest's spec (`dead.maxJobs`). Scalars are stored as plain text,
lists and free objects as canonical JSON. The one exception is a lock's `digest`, stored as `lockDigest`,
because `digest` is the digest of the hash itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from stanchion.policy import canonical

META = (
    "contractVersion",
    "owner",
    "ownerUid",
    "createdAt",
    "managedBy",
    "generation",
    "digest",
    "deletionPolicy",
)
"""Fields of every hash that describe its writer; the digest does not cover them."""

FIELDS: Mapping[str, Mapping[str, str]] = {
    "queue": {
        "latencyTargetSeconds": "integer",
        "fairness": "text",
        "tenantFrom": "json",
        "paused": "flag",
        "retry.maxRetries": "integer",
        "dead.maxJobs": "integer",
        "dead.retentionSeconds": "integer",
    },
    "lock": {
        "match.queues": "json",
        "match.jobs": "json",
        "lock": "text",
        "limit": "integer",
        "ttl.seconds": "integer",
        "ttl.auto": "json",
        "key.include": "json",
        "key.exclude": "json",
        "key.acrossQueues": "flag",
        "key.acrossJobs": "flag",
        "key.perTenant": "flag",
        "onConflict.enqueue": "text",
        "onConflict.execute": "text",
        "lockDigest": "text",
        "uniqueJobs.prefix": "text",
        "dryRun": "flag",
    },
    "budget": {
        "match.queues": "json",
        "default": "json",
        "tiers": "json",
        "tenants": "json",
        "per": "text",
        "onExceeded.enqueue": "text",
        "onExceeded.execute": "text",
        "dryRun": "flag",
    },
}
"""Kind -> spec field -> type: text, integer, flag or json. A field that is not stated is absent."""

KINDS = tuple(FIELDS)
RENAMED = {"lockDigest": "digest"}
INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")


class Damaged(ValueError):
    """A field's text is not what its type allows."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


def flatten(kind: str, spec: Mapping[str, Any]) -> dict[str, str]:
    """A spec as hash fields; what is absent or None gives no field."""
    flat = {}
    for field, kind_of_value in FIELDS[kind].items():
        value: Any = spec
        for step in RENAMED.get(field, field).split("."):
            value = None if value is None else value.get(step)
        if value is not None:
            flat[field] = _text(kind_of_value, value)
    return flat


def nest(kind: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Hash fields back as a spec; unknown fields are left out. Raises Damaged."""
    spec: dict[str, Any] = {}
    for field, kind_of_value in FIELDS[kind].items():
        if field in fields:
            *above, last = RENAMED.get(field, field).split(".")
            place = spec
            for step in above:
                place = place.setdefault(step, {})
            place[last] = value_of(field, kind_of_value, fields[field])
    return spec


def value_of(field: str, kind_of_value: str, text: str) -> Any:
    """The value a stored text stands for. Raises Damaged; nothing is guessed."""
    if kind_of_value == "text":
        return text
    if kind_of_value == "integer":
        if not INTEGER.fullmatch(text):
            raise Damaged(field, f"must be an integer, not {text!r}")
        return int(text)
    if kind_of_value == "flag":
        if text not in ("true", "false"):
            raise Damaged(field, f"must be true or false, not {text!r}")
        return text == "true"
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise Damaged(field, f"must be JSON: {error}") from None


def _text(kind_of_value: str, value: Any) -> str:
    if kind_of_value == "json":
        return canonical.dump(value)
    if kind_of_value == "flag":
        return "true" if value else "false"
    return str(value)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
