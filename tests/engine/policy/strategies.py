"""Policies of every shape, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from stanchion.policy import lock_policy, queue_policy, tenant_budget
from stanchion.policy.lock_policy import AutoTtl, LockKey, LockPolicy
from stanchion.policy.match import Match
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import DeadLimits, QueueConfig, TenantSource
from stanchion.policy.tenant_budget import Limits, Tenant, TenantBudget, Tier

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=12)
counts = st.integers(0, 2**31)
flags = st.booleans()


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def tuples(strategy: st.SearchStrategy[Any], min_size: int = 0) -> st.SearchStrategy[Any]:
    return st.lists(strategy, min_size=min_size, max_size=4).map(tuple)


owners = st.builds(
    Owner, namespace=names, name=names, uid=names, generation=st.integers(1, 10**6), created_at=names
)
matches = st.builds(Match, queues=tuples(names), jobs=tuples(names))
limits = st.builds(
    Limits,
    rate_per_second=maybe(st.floats(0, 1e6, allow_nan=False)),
    burst=maybe(counts),
    max_in_flight=maybe(counts),
    weight=maybe(counts),
    max_queued=maybe(counts),
)

queue_configs = st.builds(
    QueueConfig,
    owner=owners,
    queue=names,
    latency_target_seconds=counts,
    fairness=st.sampled_from(queue_policy.FAIRNESS),
    tenant_from=tuples(st.builds(TenantSource, path=names, jobs=maybe(tuples(names)))),
    paused=flags,
    max_retries=maybe(counts),
    dead=maybe(st.builds(DeadLimits, max_jobs=counts, retention_seconds=counts)),
    deletion_policy=st.sampled_from(queue_policy.DELETION_POLICIES),
)

lock_policies = st.builds(
    LockPolicy,
    owner=owners,
    match=matches,
    lock=st.sampled_from(["UntilExecuting", "UntilExecuted", "WhileExecuting"]),
    limit=maybe(st.integers(1, 100)),
    ttl=maybe(st.integers(1, 10**6) | st.builds(AutoTtl, min_seconds=counts, max_seconds=counts)),
    key=st.builds(
        LockKey,
        include=maybe(tuples(names)),
        exclude=maybe(tuples(names)),
        across_queues=maybe(flags),
        across_jobs=maybe(flags),
        per_tenant=maybe(flags),
    ),
    on_conflict_enqueue=maybe(st.sampled_from(["Skip", "Raise"])),
    on_conflict_execute=maybe(st.sampled_from(lock_policy.ON_EXECUTE)),
    dry_run=flags,
) | st.builds(
    LockPolicy,
    owner=owners,
    match=matches,
    lock=st.just("UntilExecuted"),
    digest=st.sampled_from(["UniqueJobsLegacy", "UniqueJobsModern"]),
    unique_jobs_prefix=names,
)

tenant_budgets = st.builds(
    TenantBudget,
    owner=owners,
    match=st.builds(Match, queues=tuples(names)),
    default=limits,
    tiers=tuples(st.builds(Tier, name=names, limits=limits)),
    tenants=tuples(st.builds(Tenant, name=names, tier=st.none(), limits=limits)),
    per=st.sampled_from(tenant_budget.PER),
    on_exceeded_enqueue=st.sampled_from(tenant_budget.ON_ENQUEUE),
    on_exceeded_execute=st.sampled_from(tenant_budget.ON_EXECUTE),
    dry_run=flags,
)

policies = queue_configs | lock_policies | tenant_budgets
