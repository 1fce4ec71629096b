"""How far a policy reaches: its own namespace's queues, and the names that namespace may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from stanchion.policy.match import Matching, matches_any
from stanchion.policy.queue_policy import QueueConfig, QueuePolicy, RedisRef

P = TypeVar("P", bound=Matching)
Q = TypeVar("Q", bound=QueueConfig)


def in_scope(policies: Iterable[P], queue_namespace: str) -> tuple[P, ...]:
    """The lock policies or budgets that may act on a queue whose QueuePolicy is in `queue_namespace`."""
    return tuple(policy for policy in policies if policy.owner.namespace == queue_namespace)


def queues_of(policy: Matching, queue_policies: Iterable[Q]) -> tuple[Q, ...]:
    """The queues a lock policy or budget acts on: those it matches in its own namespace."""
    return tuple(
        queue_policy
        for queue_policy in queue_policies
        if queue_policy.owner.namespace == policy.owner.namespace
        and matches_any(policy.match.queues, queue_policy.queue)
    )


def redis_of(policy: Matching, queue_policies: Iterable[QueuePolicy]) -> frozenset[RedisRef | None]:
    """Every Redis a lock policy or budget is written to; None stands for the namespace's default one."""
    return frozenset(queue_policy.redis for queue_policy in queues_of(policy, queue_policies))


def may_use(namespace: str, queue: str, allowed: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether `namespace` may declare `queue`. A namespace absent from a non-empty map may use none."""
    return not allowed or matches_any(allowed.get(namespace, ()), queue)
