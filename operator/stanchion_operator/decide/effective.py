"""What a manifest asks for and this version does not do yet: said in a condition, never passed over.

A line goes from the tables in the same change that makes its field work.
"""

from __future__ import annotations

from collections.abc import Sequence

from stanchion.policy.queue_policy import QueuePolicy
from stanchion_operator.decide.conditions import Condition

EFFECTIVE = "Effective"


def unsupported(policy: QueuePolicy, *, may_delete: bool) -> list[str]:
    """The fields of a QueuePolicy that are accepted, stored and not acted on.

    `may_delete`: we have the cluster-wide rights that the finalizer of `Delete` needs.
    """
    scaling = policy.effective_autoscaling
    asked = {
        "spec.fairness: Tenant": policy.fairness != "None",
        "spec.tenantFrom": bool(policy.tenant_from),
        "spec.autoscaling.schedules": bool(scaling.schedules),
        "spec.autoscaling.dependencies": bool(scaling.dependencies),
        "spec.deletionPolicy: Delete (the operator watches single namespaces, so it Retains)": (
            policy.deletion_policy == "Delete" and not may_delete
        ),
    }
    return [field for field, is_asked in asked.items() if is_asked]


def queue_policy(policy: QueuePolicy, *, may_delete: bool) -> Condition:
    """Effective for a QueuePolicy."""
    fields = unsupported(policy, may_delete=may_delete)
    if fields:
        return Condition(
            EFFECTIVE,
            False,
            "NotImplemented",
            f"accepted, but without effect in this version: {', '.join(fields)}",
        )
    # A default nobody asked for must not make every policy look broken; it is named all the same.
    watches = policy.workers is not None and policy.effective_autoscaling.downstream_guard == "Observe"
    note = "; downstreamGuard Observe reports nothing yet" if watches else ""
    return Condition(EFFECTIVE, True, "Effective", f"the spec is acted on{note}")


def rule(queues: Sequence[str], *, enforced: bool) -> Condition:
    """Effective for a LockPolicy or TenantBudget that matches `queues` of its namespace."""
    if not queues:
        return Condition(
            EFFECTIVE, False, "NoMatch", "no QueuePolicy in this namespace has a queue it matches"
        )
    if not enforced:
        return Condition(
            EFFECTIVE, False, "NotImplemented", "written to Redis, but not enforced by this version's gate"
        )
    return Condition(EFFECTIVE, True, "Effective", f"governs {', '.join(queues)}")


def shadowed(by_rivals: bool) -> Condition:
    """Shadowed for a LockPolicy or TenantBudget."""
    if by_rivals:
        return Condition("Shadowed", True, "Outranked", "other policies win wherever this one matches")
    return Condition("Shadowed", False, "NotShadowed", "it wins somewhere, or matches nothing")
