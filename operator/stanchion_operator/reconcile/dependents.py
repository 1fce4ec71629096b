"""Which other policies must be looked at when an object changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stanchion.policy.queue_policy import QueuePolicy
from stanchion_operator.kube.paths import LOCK_POLICY, QUEUE_POLICY, TENANT_BUDGET, Key
from stanchion_operator.reconcile.declared import Declared, key_of
from stanchion_operator.render.labels import POLICY_LABEL

Json = Mapping[str, Any]


def spec_changed(before: Json | None, after: Json | None) -> bool:
    """Whether more than the status has: created, deleted, a new generation, other annotations."""
    if before is None or after is None:
        return True
    one, other = before["metadata"], after["metadata"]
    watched = ("uid", "generation", "annotations", "deletionTimestamp")
    return any(one.get(name) != other.get(name) for name in watched)


def of_queue_policy(policy: QueuePolicy, declared: Declared) -> Iterator[Key]:
    """Rivals for its queue, rules of its namespace, the policy it rides on and those that ride on it."""
    yield from (key_of(rival) for rival in declared.queue_policies_of(policy.queue))
    namespace = policy.owner.namespace
    for kind in (LOCK_POLICY, TENANT_BUDGET):
        yield from (key_of(rule) for rule in declared.rules_in(kind, namespace))
    if policy.workers and policy.workers.policy_ref:
        yield Key(QUEUE_POLICY, namespace, policy.workers.policy_ref)
    for other in declared.queue_policies_in(namespace):
        if _shares_workers(policy, other):
            yield key_of(other)


def _shares_workers(policy: QueuePolicy, other: QueuePolicy) -> bool:
    if other.workers is None:
        return False
    target = policy.workers.target_ref if policy.workers else None
    return other.workers.policy_ref == policy.owner.name or (
        target is not None and other.workers.target_ref == target
    )


def of_deployment(key: Key, deployment: Json | None) -> Iterator[Key]:
    """The policy whose workers it runs."""
    labels = (deployment or {}).get("metadata", {}).get("labels") or {}
    if POLICY_LABEL in labels:
        yield Key(QUEUE_POLICY, key.namespace, labels[POLICY_LABEL])


def of_secret(key: Key, declared: Declared) -> Iterator[Key]:
    """Every policy of its namespace: whoever does not use it finds nothing to do."""
    yield from (other for other in declared.all_keys() if other.namespace == key.namespace)
