"""Several QueuePolicies for one queue on one Redis: the oldest owns it, the others touch nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping

from stanchion.policy.queue_policy import QueuePolicy


def overruled(
    policies: Iterable[QueuePolicy], place: Callable[[QueuePolicy], Hashable]
) -> Mapping[str, QueuePolicy]:
    """`namespace/name` of each policy that loses -> the older policy that owns what both claim.

    `place` says what is claimed: (server, queue) for queues, (namespace, kind, name) for targets.
    Only the caller knows which Redis references name the same server.
    """
    claims = defaultdict(list)
    for policy in policies:
        claims[place(policy)].append(policy)
    losers = {}
    for rivals in claims.values():
        owner, *younger = sorted(rivals, key=lambda policy: policy.owner.age_order)
        losers.update({policy.owner.key: owner for policy in younger})
    return losers
