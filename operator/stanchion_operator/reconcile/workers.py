"""The workers of a QueuePolicy: our Deployment made and kept, or the user's own found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.policy.workers import Workers
from stanchion_operator.decide.children import Step, is_ours, next_step
from stanchion_operator.decide.workload import Workload, read
from stanchion_operator.errors import Missing, Taken
from stanchion_operator.kube import objects, scale
from stanchion_operator.kube.cache import Cache
from stanchion_operator.kube.client import Api
from stanchion_operator.kube.paths import DEPLOYMENT, Key
from stanchion_operator.render.deployment import render, unscaled
from stanchion_operator.render.labels import DIGEST_ANNOTATION, deployment_name
from stanchion_operator.render.pod import RedisSecret, Ridden
from stanchion_operator.render.template import check

Json = Mapping[str, Any]


class WorkerSets:
    """Deployments by policy. Remembers which generation it applied last, to spare requests."""

    def __init__(self, api: Api, cache: Cache, *, allow_privileged: bool) -> None:
        self._api, self._cache = api, cache
        self._allow_privileged = allow_privileged
        self._applied: dict[str, int] = {}

    async def ensure(
        self, policy: QueuePolicy, workers: Workers, riders: Sequence[QueuePolicy], redis: RedisSecret
    ) -> Workload:
        """Our Deployment as the policy wants it. Raises Taken if a stranger's stands in its place."""
        check(workers.template or {}, allow_privileged=self._allow_privileged)
        body = render(policy, workers, ridden(policy, riders), redis)
        key = own_deployment(policy)
        deployment = await self._find(key)
        step = self._next(deployment, policy, body)
        if step is Step.RELEASE:  # the cache may be behind: released already, and scaled since
            deployment = await objects.get(self._api, key)
            step = self._next(deployment, policy, body)
        if step is Step.REFUSE:
            raise Taken("NameTaken", f"Deployment {key.name} exists and is not ours; rename one of the two")
        if step is Step.CREATE:
            await self._apply(key, unscaled(body))
        if step in (Step.CREATE, Step.RELEASE):
            await self._set_first_number(key, policy)
        if deployment is None or step is not Step.NOTHING:
            deployment = await self._apply(key, body)
        return read(deployment)

    async def find(self, namespace: str, name: str) -> Workload:
        """A Deployment of the user's own. Raises Missing."""
        deployment = await objects.get(self._api, Key(DEPLOYMENT, namespace, name))
        if deployment is None:
            raise Missing("TargetMissing", f"there is no Deployment {name} in namespace {namespace}")
        return read(deployment)

    async def remove(self, policy: QueuePolicy) -> None:
        """Delete our Deployment if there is one: the policy has no workers of its own any more."""
        key = own_deployment(policy)
        deployment = self._cache.get(key)
        if deployment is not None and is_ours(deployment, policy.owner.uid):
            await objects.delete(self._api, key, deployment["metadata"]["uid"])

    async def _find(self, key: Key) -> Json | None:
        """From the cache; on its word alone nothing is created."""
        return self._cache.get(key) or await objects.get(self._api, key)

    def _next(self, deployment: Json | None, policy: QueuePolicy, body: Json) -> Step:
        applied = self._applied.get(deployment["metadata"]["uid"]) if deployment else None
        return next_step(
            deployment, policy.owner.uid, body["metadata"]["annotations"][DIGEST_ANNOTATION], applied
        )

    async def _apply(self, key: Key, body: Json) -> Json:
        deployment = await objects.apply(self._api, key, body)
        self._applied[deployment["metadata"]["uid"]] = deployment["metadata"]["generation"]
        self._cache.put(key, deployment)
        return deployment

    async def _set_first_number(self, key: Key, policy: QueuePolicy) -> None:
        """Forced, for the server counts the default of 1 as somebody's; an HPA owns it in External."""
        replicas = first_number(policy)
        if replicas is not None:
            now = await scale.read(self._api, key)
            await scale.write(self._api, key, replicas, now.resource_version, force=True)


def first_number(policy: QueuePolicy) -> int | None:
    """Replicas of a new Deployment; None leaves it to the one who owns the number."""
    scaling, workers = policy.effective_autoscaling, policy.workers
    if scaling.mode == "External":
        return None
    if scaling.mode == "Manual":
        return workers.replicas if workers else None
    return scaling.min_replicas


def ridden(policy: QueuePolicy, riders: Sequence[QueuePolicy]) -> list[Ridden]:
    """The queues a policy's workers serve, by weight descending, then by name."""
    queues = [Ridden(each.queue, each.workers.weight if each.workers else 1) for each in (policy, *riders)]
    return sorted(queues, key=lambda each: (-each.weight, each.queue))


def own_deployment(policy: QueuePolicy) -> Key:
    """The key of the Deployment we make for a policy."""
    return Key(DEPLOYMENT, policy.owner.namespace, deployment_name(policy.owner.name))
