"""Whatever the gate does not obey yet is said, and nothing else is."""

from __future__ import annotations

from stanchion.policy.enforcement import notices
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.match import Match
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.policy.tenant_budget import TenantBudget

OWNER = Owner("shop", "x")
ENDING = "is written to Redis, but not enforced by this version"


def test_each_policy_that_is_not_obeyed_is_named() -> None:
    policies = (
        QueueConfig(OWNER, "imports"),
        QueueConfig(OWNER, "mail", fairness="Tenant"),
        LockPolicy(OWNER, Match(), "UntilExecuted"),
        TenantBudget(OWNER, Match()),
    )

    assert notices(policies) == (
        f"fairness Tenant of QueuePolicy shop/x {ENDING}",
        f"LockPolicy shop/x {ENDING}",
        f"TenantBudget shop/x {ENDING}",
    )
