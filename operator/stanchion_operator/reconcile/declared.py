"""Everything declared, read once into frozen values and found by queue, by namespace and by reference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stanchion.errors import InvalidPolicy
from stanchion.policy.contract import kind_of, name_of
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.queue_policy import QueuePolicy
from stanchion.policy.tenant_budget import TenantBudget
from stanchion_operator.kube.paths import LOCK_POLICY, QUEUE_POLICY, TENANT_BUDGET, Key

Policy = QueuePolicy | LockPolicy | TenantBudget
READERS: Mapping[str, type[Any]] = {
    QUEUE_POLICY: QueuePolicy,
    LOCK_POLICY: LockPolicy,
    TENANT_BUDGET: TenantBudget,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One manifest, read: a policy, or why it is none."""

    policy: Policy | None
    entry: str
    """Its name in the config index."""
    problem: str = ""
    deleting: bool = False


class Declared:
    """An index over the policies in the cache; `update` keeps it current."""

    def __init__(self) -> None:
        self._readings: dict[Key, Reading] = {}
        self._by_queue: dict[str, set[Key]] = defaultdict(set)
        self._by_namespace: dict[tuple[str, str], set[Key]] = defaultdict(set)

    def update(self, key: Key, manifest: Mapping[str, Any] | None) -> None:
        """Take the newest form of one policy; None means that it is gone."""
        self._drop(key)
        if manifest is None:
            return
        reading = self._readings[key] = _read(key.kind, manifest)
        self._by_namespace[key.kind, key.namespace].add(key)
        if isinstance(reading.policy, QueuePolicy):
            self._by_queue[reading.policy.queue].add(key)

    def reading(self, key: Key) -> Reading | None:
        """One policy, read."""
        return self._readings.get(key)

    def queue_policies_of(self, queue: str) -> list[QueuePolicy]:
        """All policies for one queue name, in every namespace, on every Redis; without those going away."""
        return [policy for policy in self._living(self._by_queue[queue]) if isinstance(policy, QueuePolicy)]

    def queue_policies_in(self, namespace: str) -> list[QueuePolicy]:
        """The QueuePolicies of one namespace."""
        keys = self._by_namespace[QUEUE_POLICY, namespace]
        return [policy for policy in self._living(keys) if isinstance(policy, QueuePolicy)]

    def rules_in(self, kind: str, namespace: str) -> list[Any]:
        """The LockPolicies or TenantBudgets of one namespace."""
        return list(self._living(self._by_namespace[kind, namespace]))

    def entries(self) -> dict[Key, str]:
        """The config index entry of every policy that is not going away, readable or not.

        A sweep removes what is not among them, so what somebody still declares must be here.
        """
        return {key: reading.entry for key, reading in self._readings.items() if not reading.deleting}

    def all_keys(self) -> list[Key]:
        """Every policy's key."""
        return list(self._readings)

    def _living(self, keys: set[Key]) -> Iterator[Policy]:
        for key in sorted(keys):
            reading = self._readings[key]
            if reading.policy is not None and not reading.deleting:
                yield reading.policy

    def _drop(self, key: Key) -> None:
        reading = self._readings.pop(key, None)
        self._by_namespace[key.kind, key.namespace].discard(key)
        if reading is not None and isinstance(reading.policy, QueuePolicy):
            self._by_queue[reading.policy.queue].discard(key)


def key_of(policy: Policy) -> Key:
    """The key of a policy's object."""
    kind = next(kind for kind, reader in READERS.items() if isinstance(policy, reader))
    return Key(kind, policy.owner.namespace, policy.owner.name)


def _read(kind: str, manifest: Mapping[str, Any]) -> Reading:
    deleting = "deletionTimestamp" in manifest["metadata"]
    try:
        policy = READERS[kind].from_manifest(manifest)
    except InvalidPolicy as error:
        return Reading(None, _entry_of_unreadable(kind, manifest), str(error), deleting)
    return Reading(policy, f"{kind_of(policy)}/{name_of(policy)}", deleting=deleting)


def _entry_of_unreadable(kind: str, manifest: Mapping[str, Any]) -> str:
    """The entry an earlier, readable form of the manifest was written under."""
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    if kind == QUEUE_POLICY:
        return f"queue/{spec.get('queueName') or metadata['name']}"
    config_kind = "lock" if kind == LOCK_POLICY else "budget"
    return f"{config_kind}/{metadata['namespace']}/{metadata['name']}"
