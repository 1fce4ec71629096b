"""What of a policy this version's gate does not obey yet. Said wherever a policy is written, so that nobody
counts on it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.queue_policy import QueueConfig
from stanchion.policy.tenant_budget import TenantBudget


def notices(policies: Iterable[QueueConfig | LockPolicy | TenantBudget]) -> tuple[str, ...]:
    """A sentence for each policy that is written to Redis and not obeyed, in whole or in part."""
    parts = (_ignored(policy) for policy in policies)
    return tuple(f"{part} is written to Redis, but not enforced by this version" for part in parts if part)


def _ignored(policy: QueueConfig | LockPolicy | TenantBudget) -> str:
    if isinstance(policy, LockPolicy):
        return f"LockPolicy {policy.owner.key}"
    if isinstance(policy, TenantBudget):
        return f"TenantBudget {policy.owner.key}"
    return (
        f"fairness {policy.fairness} of QueuePolicy {policy.owner.key}" if policy.fairness != "None" else ""
    )
