"""The config contract: a policy as the Redis hash that every client and worker obeys, and back.

`encode` is called by whoever writes config (operator, `stanchion apply`, `stanchion dev`), `decode` by
whoever reads it. A damaged hash decodes to no config and a list of problems; it is never guessed at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stanchion.errors import InvalidPolicy
from stanchion.policy import canonical
from stanchion.policy.fields import FIELDS, META, Damaged, flatten, nest, value_of
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import DELETION_POLICIES, QueueConfig
from stanchion.policy.section import Section
from stanchion.policy.spec import spec_of
from stanchion.policy.tenant_budget import TenantBudget

CONTRACT_VERSION = "1"

LockConfig = LockPolicy
BudgetConfig = TenantBudget
Config = QueueConfig | LockPolicy | TenantBudget


@dataclass(frozen=True, slots=True)
class ConfigHash:
    """One config hash to write. `kind` is queue, lock or budget; `fields` includes the digest."""

    kind: str
    name: str
    fields: Mapping[str, str]
    digest: str

    @property
    def entry(self) -> str:
        """The name in the index."""
        return f"{self.kind}/{self.name}"

    @property
    def stamp(self) -> str:
        """The value in the index: it changes with the spec and with the owner, so readers miss neither."""
        return stamp(self.fields)


@dataclass(frozen=True, slots=True)
class Decoded:
    """`config` is None if the hash cannot be trusted; `problems` say why, or name unknown fields."""

    config: Config | None
    problems: tuple[str, ...] = ()


def stamp(fields: Mapping[str, str]) -> str:
    """`digest:ownerUid`, the index value that belongs to these fields."""
    return f"{fields.get('digest', '')}:{fields.get('ownerUid', '')}"


def kind_of(policy: Config) -> str:
    """The kind in key names: queue, lock or budget."""
    if isinstance(policy, QueueConfig):
        return "queue"
    return "lock" if isinstance(policy, LockPolicy) else "budget"


def name_of(policy: Config) -> str:
    """The name in key names: the queue, or `namespace/name`."""
    return policy.queue if isinstance(policy, QueueConfig) else policy.owner.key


def encode(policy: Config, managed_by: str) -> ConfigHash:
    """The hash of a policy. `managed_by` names the installation that may rewrite or sweep it.

    A manifest that no API server gave a uid gets one from its writer and name: equal names under one
    writer are the same owner.
    """
    kind, owner = kind_of(policy), policy.owner
    spec = flatten(kind, spec_of(policy))
    digest = canonical.digest(spec)
    meta = {
        "contractVersion": CONTRACT_VERSION,
        "owner": owner.key,
        "ownerUid": owner.uid or f"{managed_by}:{owner.key}",
        "createdAt": owner.created_at,
        "managedBy": managed_by,
        "generation": str(owner.generation),
        "digest": digest,
        "deletionPolicy": policy.deletion_policy if isinstance(policy, QueueConfig) else "Retain",
    }
    return ConfigHash(kind, name_of(policy), {**spec, **meta}, digest)


def decode(kind: str, name: str, fields: Mapping[str, str]) -> Decoded:
    """Read a hash back. Unknown fields are reported and ignored; anything else wrong gives no config."""
    where = f"{kind}/{name}"
    spec = {field: value for field, value in fields.items() if field not in META}
    unknown = tuple(
        f"{where}: {field}: is unknown to this version" for field in sorted(spec) if field not in FIELDS[kind]
    )
    try:
        _check_meta(fields, spec)
        config = _build(
            kind, name, _owner(fields), {**nest(kind, spec), "deletionPolicy": fields["deletionPolicy"]}
        )
    except (Damaged, InvalidPolicy) as error:
        return Decoded(None, (*unknown, f"{where}: {error}"))
    return Decoded(config, unknown)


def _check_meta(fields: Mapping[str, str], spec: Mapping[str, str]) -> None:
    for field in META:
        if field not in fields:
            raise Damaged(field, "is missing")
    if fields["contractVersion"] != CONTRACT_VERSION:
        raise Damaged("contractVersion", f"{fields['contractVersion']!r} is not {CONTRACT_VERSION}; upgrade")
    if fields["deletionPolicy"] not in DELETION_POLICIES:
        raise Damaged("deletionPolicy", f"must be one of {', '.join(DELETION_POLICIES)}")
    if fields["digest"] != canonical.digest(spec):
        raise Damaged("digest", "does not fit the fields: they were changed by hand")


def _owner(fields: Mapping[str, str]) -> Owner:
    namespace, slash, name = fields["owner"].partition("/")
    if not (namespace and slash and name):
        raise Damaged("owner", f"must be namespace/name, not {fields['owner']!r}")
    return Owner(
        namespace=namespace,
        name=name,
        uid=fields["ownerUid"],
        generation=value_of("generation", "integer", fields["generation"]),
        created_at=fields["createdAt"],
    )


def _build(kind: str, name: str, owner: Owner, spec: Mapping[str, Any]) -> Config:
    section = Section(spec, "spec")
    if kind == "queue":
        return QueueConfig.from_spec(owner, name, section)
    if kind == "lock":
        return LockPolicy.from_spec(owner, section)
    return TenantBudget.from_spec(owner, section)
