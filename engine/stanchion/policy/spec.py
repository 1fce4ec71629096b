"""A policy's gate-relevant settings as a plain spec again: defaults filled in, unstated fields absent.

The inverse of the `from_spec` constructors; the config contract flattens what it returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stanchion.policy.lock_policy import AutoTtl, LockPolicy
from stanchion.policy.queue_policy import QueueConfig
from stanchion.policy.tenant_budget import Limits, TenantBudget


def spec_of(policy: QueueConfig | LockPolicy | TenantBudget) -> Mapping[str, Any]:
    """The spec, as a manifest would state it."""
    if isinstance(policy, QueueConfig):
        return _queue(policy)
    return _lock(policy) if isinstance(policy, LockPolicy) else _budget(policy)


def _queue(policy: QueueConfig) -> dict[str, Any]:
    dead = policy.dead
    return {
        "latencyTargetSeconds": policy.latency_target_seconds,
        "fairness": policy.fairness,
        "tenantFrom": [_stated(jobs=source.jobs, path=source.path) for source in policy.tenant_from] or None,
        "paused": policy.paused,
        "retry": {"maxRetries": policy.max_retries},
        "dead": dead and {"maxJobs": dead.max_jobs, "retentionSeconds": dead.retention_seconds},
    }


def _lock(policy: LockPolicy) -> dict[str, Any]:
    key = policy.key
    return {
        "match": {"queues": policy.match.queues, "jobs": policy.match.jobs},
        "lock": policy.lock,
        "limit": policy.limit,
        "ttl": _ttl(policy.ttl),
        "key": {
            "include": key.include,
            "exclude": key.exclude,
            "acrossQueues": key.across_queues,
            "acrossJobs": key.across_jobs,
            "perTenant": key.per_tenant,
        },
        "onConflict": {"enqueue": policy.on_conflict_enqueue, "execute": policy.on_conflict_execute},
        "digest": policy.digest,
        "uniqueJobs": None if policy.digest == "Canonical" else {"prefix": policy.unique_jobs_prefix},
        "dryRun": policy.dry_run,
    }


def _ttl(ttl: int | AutoTtl | None) -> dict[str, Any] | None:
    if not isinstance(ttl, AutoTtl):
        return None if ttl is None else {"seconds": ttl}
    return {
        "auto": {
            "quantile": ttl.quantile,
            "factor": ttl.factor,
            "minSeconds": ttl.min_seconds,
            "maxSeconds": ttl.max_seconds,
        }
    }


def _budget(policy: TenantBudget) -> dict[str, Any]:
    return {
        "match": {"queues": policy.match.queues},
        "default": _limits(policy.default),
        "tiers": [{"name": tier.name, **_limits(tier.limits)} for tier in policy.tiers],
        "tenants": [
            _stated(name=tenant.name, tier=tenant.tier, **_limits(tenant.limits)) for tenant in policy.tenants
        ],
        "per": policy.per,
        "onExceeded": {"enqueue": policy.on_exceeded_enqueue, "execute": policy.on_exceeded_execute},
        "dryRun": policy.dry_run,
    }


def _limits(limits: Limits) -> dict[str, Any]:
    return _stated(
        ratePerSecond=limits.rate_per_second,
        burst=limits.burst,
        maxInFlight=limits.max_in_flight,
        weight=limits.weight,
        maxQueued=limits.max_queued,
    )


def _stated(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
