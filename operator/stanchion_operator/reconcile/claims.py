"""Who may have what, where several policies ask for the same queue, target or workers: the older one."""

from __future__ import annotations

from collections.abc import Sequence

from stanchion.policy.overlap import overruled
from stanchion.policy.queue_policy import QueuePolicy
from stanchion_operator.errors import NotReady, Taken
from stanchion_operator.reconcile.base import attempt
from stanchion_operator.reconcile.declared import Declared
from stanchion_operator.redis_config.servers import Servers

MOST_RIDERS = 15
"""With its own, a set of workers serves at most 16 queues: each costs every child a connection."""


class Claims:
    """Judges the claims of QueuePolicies against each other, from everything declared."""

    def __init__(self, declared: Declared, servers: Servers) -> None:
        self._declared, self._servers = declared, servers

    async def rivals(self, policy: QueuePolicy, place: tuple[str, int]) -> list[QueuePolicy]:
        """Other policies for this queue on this very Redis; one whose Redis is unknown is no rival."""
        return [
            other
            for other in self._declared.queue_policies_of(policy.queue)
            if other.owner.uid != policy.owner.uid and await self.place_of(other) == place
        ]

    async def place_of(self, policy: QueuePolicy) -> tuple[str, int] | None:
        """The Redis database a policy's queue is in; None while its Secret leads nowhere."""
        reference = await attempt(self._servers.resolve(policy.owner.namespace, policy.redis))
        if isinstance(reference, NotReady):
            return None
        await attempt(reference.server.meet())
        return reference.server.place

    def check_target(self, policy: QueuePolicy, target: str) -> None:
        """Raises Taken if an older policy scales the same Deployment."""
        claims = [
            each
            for each in self._declared.queue_policies_in(policy.owner.namespace)
            if target_name(each) == target
        ]
        owner = overruled(claims, lambda _: target).get(policy.owner.key)
        if owner is not None:
            raise Taken("TargetTaken", f"QueuePolicy {owner.owner.key} is older and scales {target}")

    async def riders(self, owner: QueuePolicy) -> list[QueuePolicy]:
        """Policies that ride on `owner` and own their queues: the oldest, as many as there is room for."""
        if owner.workers is None or owner.workers.policy_ref is not None:
            return []
        place = await self.place_of(owner)
        if place is None:
            return []
        riders = [
            each
            for each in self._declared.queue_policies_in(owner.owner.namespace)
            if each.workers
            and each.workers.policy_ref == owner.owner.name
            and await self.place_of(each) == place
            and owner_among(each, await self.rivals(each, place)) is None
        ]
        return sorted(riders, key=lambda each: each.owner.age_order)[:MOST_RIDERS]


def owner_among(policy: QueuePolicy, rivals: Sequence[QueuePolicy]) -> QueuePolicy | None:
    """The rival that owns the queue because it is older; None if the policy itself does."""
    return overruled([policy, *rivals], lambda _: policy.queue).get(policy.owner.key)


def target_name(policy: QueuePolicy) -> str | None:
    """The Deployment of the user's own that a policy names, if it does."""
    return policy.workers.target_ref.name if policy.workers and policy.workers.target_ref else None
