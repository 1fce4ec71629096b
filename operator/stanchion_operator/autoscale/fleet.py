"""The pods of one Deployment: how many there are, and the step towards the number that is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import redis.asyncio

from stanchion.scaling.facts import ProcessFacts
from stanchion.store import keys
from stanchion_operator.decide import drain
from stanchion_operator.decide.children import is_unfinished
from stanchion_operator.decide.drain import Drain, PodFacts
from stanchion_operator.decide.workload import Workload, read
from stanchion_operator.kube import objects, pods, scale
from stanchion_operator.kube.cache import Cache
from stanchion_operator.kube.client import Api
from stanchion_operator.kube.paths import POD, Key
from stanchion_operator.reconcile.placement import Placement

Json = Mapping[str, Any]

SIGNAL_TTL_SECONDS = 60
"""As Sidekiq's web page sets it: an order nobody fetched is forgotten."""
QUIET = "TSTP"


@dataclass(frozen=True, slots=True)
class Sight:
    """A Deployment as seen this tick. `pods` is empty where their number alone decides."""

    target: Key
    workload: Workload
    replicas: int
    pods: tuple[PodFacts, ...]
    processes: tuple[ProcessFacts, ...]
    live: int
    """Replicas that take jobs: a quiet one counts for nothing."""


class Fleet:
    """Reads pods only when it must: when fewer are wanted, or some are on their way out."""

    def __init__(self, api: Api, cache: Cache) -> None:
        self._api, self._cache = api, cache

    async def look(self, target: Key, processes: Sequence[ProcessFacts]) -> Sight | None:
        """The Deployment now; None while there is none that may be scaled."""
        deployment = self._cache.get(target) or await objects.get(self._api, target)
        if deployment is None or is_unfinished(deployment):
            return None
        workload = read(deployment)
        quiet = any(process.quiet for process in processes)
        facts = await self._pods(target, workload, processes) if quiet else ()
        going = len(facts) - drain.live(facts)
        return Sight(
            target, workload, workload.wanted, facts, tuple(processes), max(workload.wanted - going, 0)
        )

    async def move(self, placement: Placement, sight: Sight, wanted: int, *, force: bool) -> Drain:
        """One step towards `wanted` live replicas. Raises ApiError 409 if somebody else has the number."""
        target = sight.target
        if wanted == sight.live and sight.live == sight.replicas:
            return Drain(sight.replicas)
        facts = sight.pods
        if wanted < sight.replicas and not facts:
            facts = await self._pods(target, sight.workload, sight.processes)
        step = drain.plan(wanted, sight.replicas, facts, rolling=sight.workload.rolling, ours=placement.ours)
        if step.quiet:
            await placement.server.ask(lambda client: _quiet(client, step.quiet))
        for name, cost in step.costs.items():
            await pods.set_deletion_cost(self._api, Key(POD, target.namespace, name), cost)
        if step.replicas == sight.replicas:
            return step
        now = await scale.read(self._api, target)
        if now.replicas != sight.replicas:  # planned from an older number: look again next tick
            return replace(step, replicas=sight.replicas)
        await scale.write(self._api, target, step.replicas, now.resource_version, force=force)
        return step

    async def _pods(
        self, target: Key, workload: Workload, processes: Sequence[ProcessFacts]
    ) -> tuple[PodFacts, ...]:
        """The Deployment's pods with their processes; those being deleted are no longer its own."""
        listed = await pods.of_selector(self._api, target.namespace, workload.selector)
        facts = [_pod(pod) for pod in listed if "deletionTimestamp" not in pod["metadata"]]
        return tuple(drain.join(facts, processes))


def _pod(pod: Json) -> PodFacts:
    metadata = pod["metadata"]
    conditions = (pod.get("status") or {}).get("conditions") or ()
    cost = (metadata.get("annotations") or {}).get(pods.DELETION_COST, "0")
    return PodFacts(
        name=metadata["name"],
        ready=any(each["type"] == "Ready" and each["status"] == "True" for each in conditions),
        cost=int(cost),
        created_at=metadata["creationTimestamp"],
    )


async def _quiet(client: redis.asyncio.Redis, identities: Sequence[str]) -> None:
    """Tell processes to take no more jobs, as Sidekiq's web page does: workers of every kind obey."""
    async with client.pipeline(transaction=False) as pipeline:
        for identity in identities:
            pipeline.lpush(keys.signals(identity), QUIET)
            pipeline.expire(keys.signals(identity), SIGNAL_TTL_SECONDS)
        await pipeline.execute()
