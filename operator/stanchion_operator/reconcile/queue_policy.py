"""One pass over a QueuePolicy: its config hash, its workers, and what its status says of both."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.store.config import WriteResult
from stanchion_operator.decide import queue_policy as decide
from stanchion_operator.decide.annotations import Orders, read
from stanchion_operator.decide.conditions import find
from stanchion_operator.decide.report import Report
from stanchion_operator.decide.target import SCALE_CONFLICT
from stanchion_operator.decide.workload import Workload
from stanchion_operator.errors import Missing, NotReady, SpecRefused, Taken
from stanchion_operator.kube.paths import DEPLOYMENT, QUEUE_POLICY, Key
from stanchion_operator.reconcile.base import attempt
from stanchion_operator.reconcile.claims import MOST_RIDERS, Claims, owner_among, target_name
from stanchion_operator.reconcile.cleanup import Cleanup
from stanchion_operator.reconcile.config_writer import ConfigWriter
from stanchion_operator.reconcile.declared import Declared
from stanchion_operator.reconcile.placement import Placement, Placements
from stanchion_operator.reconcile.workers import WorkerSets, own_deployment
from stanchion_operator.redis_config.servers import Reference, Servers
from stanchion_operator.render.pod import RedisSecret

Json = Mapping[str, Any]


class QueuePolicies:
    """The kind QueuePolicy of the reconcile loop."""

    def __init__(
        self,
        declared: Declared,
        servers: Servers,
        writer: ConfigWriter,
        workers: WorkerSets,
        cleanup: Cleanup,
        placements: Placements,
    ) -> None:
        self._declared, self._servers, self._writer = declared, servers, writer
        self._claims = Claims(declared, servers)
        self._workers, self._cleanup, self._placements = workers, cleanup, placements

    async def reconcile(self, key: Key, manifest: Json) -> Report | None:
        """Write the config, then see to the workers; each step is tried whatever became of the other."""
        reading = self._declared.reading(key)
        if reading is None:
            return None
        if reading.deleting:
            return await self._cleanup.reconcile(key, manifest, reading.policy)
        if not isinstance(reading.policy, QueuePolicy):
            return decide.invalid(reading.problem)
        policy, orders = reading.policy, read(manifest)
        reference = await attempt(self._servers.resolve(key.namespace, policy.redis))
        if isinstance(reference, Reference):
            await self._cleanup.prepare(key, manifest, policy)
        written = await attempt(self._write(key, policy, reference, orders))
        owns = not isinstance(written, Taken) and (
            not isinstance(written, WriteResult) or written.outcome != "conflict"
        )
        workload = await attempt(self._see_to_workers(policy, reference)) if owns else None
        await self._place(key, policy, reference, workload, owns=owns)
        label = "" if isinstance(reference, NotReady) else reference.server.label
        passed = decide.Passed(
            label, written, workload, self._cleanup.may_delete, _fighting(manifest), _was_asleep(manifest)
        )
        return decide.report(policy, orders, passed, time.time())

    async def forget(self, key: Key) -> None:
        """The policy is gone: its hash goes; the Deployment goes by its owner reference; jobs stay."""
        self._placements.pop(key, None)
        await self._writer.remove(key)

    async def _write(
        self, key: Key, policy: QueuePolicy, reference: Reference | NotReady, orders: Orders
    ) -> WriteResult:
        if isinstance(reference, NotReady):
            raise reference
        await attempt(reference.server.meet())  # away or not, who owns the queue is known
        rivals = await self._claims.rivals(policy, reference.server.place)
        owner = owner_among(policy, rivals)
        if owner is not None:
            raise Taken(
                "QueueTaken",
                f"QueuePolicy {owner.owner.key} is older and owns queue {policy.queue} on this Redis",
            )
        losers = {rival.owner.key for rival in rivals}
        return await self._writer.write(
            key, policy, [reference.server], take_over=orders.take_over, take_over_from=losers
        )

    async def _see_to_workers(self, policy: QueuePolicy, reference: Reference | NotReady) -> Workload | None:
        workers, namespace = policy.workers, policy.owner.namespace
        if workers is None or workers.image is None:
            await self._workers.remove(policy)
        if workers is None:
            return None
        if isinstance(reference, NotReady):
            raise reference
        if workers.target_ref is not None:
            self._claims.check_target(policy, workers.target_ref.name)
            return await self._workers.find(namespace, workers.target_ref.name)
        if workers.policy_ref is not None:
            return await self._ride(policy, workers.policy_ref, reference)
        riders = await self._claims.riders(policy)
        secret = RedisSecret(reference.secret_name, reference.secret_key, reference.digest)
        return await self._workers.ensure(policy, workers, riders, secret)

    async def _ride(self, policy: QueuePolicy, owner_name: str, reference: Reference) -> Workload:
        """The workers of the policy we ride on. Raises Missing or SpecRefused if they cannot be."""
        reading = self._declared.reading(Key(QUEUE_POLICY, policy.owner.namespace, owner_name))
        owner = reading.policy if reading and not reading.deleting else None
        if not isinstance(owner, QueuePolicy):
            raise Missing("OwnerMissing", f"there is no QueuePolicy {owner_name} to ride on")
        if owner.workers is None or owner.workers.policy_ref is not None:
            raise SpecRefused("NoWorkersToRideOn", f"QueuePolicy {owner_name} has no workers of its own")
        if await self._claims.place_of(owner) != reference.server.place:
            raise SpecRefused("OtherRedis", f"QueuePolicy {owner_name} is on another Redis")
        if policy not in await self._claims.riders(owner):
            raise SpecRefused(
                "TooManyQueues", f"QueuePolicy {owner_name} carries {MOST_RIDERS} other queues already"
            )
        target = _target(owner)
        return await self._workers.find(target.namespace, target.name)

    async def _place(
        self,
        key: Key,
        policy: QueuePolicy,
        reference: Reference | NotReady,
        workload: Workload | NotReady | None,
        *,
        owns: bool,
    ) -> None:
        """Tell the autoscaler. Where the Secret is gone the last server stays: to hold is work, too."""
        known = self._placements.get(key)
        if not owns:
            self._placements.pop(key, None)
        elif isinstance(reference, Reference):
            scales = isinstance(workload, Workload) and policy.workers and policy.workers.policy_ref is None
            self._placements[key] = Placement(
                policy=policy,
                server=reference.server,
                target=_target(policy) if scales else None,
                ours=policy.workers is not None and policy.workers.image is not None,
                riders=tuple(await self._claims.riders(policy)),
            )
        elif known is not None:
            self._placements[key] = replace(known, policy=policy)


def _target(policy: QueuePolicy) -> Key:
    name = target_name(policy)
    return Key(DEPLOYMENT, policy.owner.namespace, name) if name else own_deployment(policy)


def _was_asleep(manifest: Json) -> bool:
    available = _shown(manifest, "WorkersAvailable")
    return available is not None and available["reason"] in decide.ASLEEP


def _shown(manifest: Json, kind: str) -> Json | None:
    return find((manifest.get("status") or {}).get("conditions") or (), kind)


def _fighting(manifest: Json) -> str:
    """Who else scales the target, as the autoscaler found; read back from the status it wrote."""
    able = _shown(manifest, "AbleToScale")
    return str(able["message"]) if able and able["reason"] == SCALE_CONFLICT else ""
