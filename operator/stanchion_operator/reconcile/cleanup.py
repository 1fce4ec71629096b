"""Deletion of QueuePolicies that own more than a config hash: finalizer on, queue's keys away, finalizer off.

Only with cluster-wide rights: a namespace that is deleted loses its Roles first, and a finalizer that we
may no longer remove would hold it for ever.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from stanchion.policy.queue_policy import QueuePolicy
from stanchion_operator.decide import deletion
from stanchion_operator.decide.annotations import read
from stanchion_operator.decide.conditions import Condition
from stanchion_operator.decide.deletion import Move, Remains, Verdict
from stanchion_operator.decide.report import Report
from stanchion_operator.kube import objects
from stanchion_operator.kube.client import Api
from stanchion_operator.kube.events import Events
from stanchion_operator.kube.paths import GROUP, Key
from stanchion_operator.reconcile.base import attempt
from stanchion_operator.reconcile.config_writer import ConfigWriter
from stanchion_operator.redis_config import queue_keys
from stanchion_operator.redis_config.servers import Servers

Json = Mapping[str, Any]

FINALIZER = f"{GROUP}/queue"


class Cleanup:
    """Finalizers and what they guard."""

    def __init__(
        self, api: Api, events: Events, servers: Servers, writer: ConfigWriter, *, cluster_wide: bool
    ) -> None:
        self._api, self._events, self._servers, self._writer = api, events, servers, writer
        self._cluster_wide = cluster_wide

    @property
    def may_delete(self) -> bool:
        """Whether `deletionPolicy: Delete` can be honored."""
        return self._cluster_wide

    async def prepare(self, key: Key, manifest: Json, policy: QueuePolicy) -> None:
        """Before the first write to Redis: the finalizer goes on if deleting is to delete, else off."""
        present = manifest["metadata"].get("finalizers") or []
        wanted = policy.deletion_policy == "Delete" and self._cluster_wide
        if wanted and FINALIZER not in present:
            await objects.set_finalizers(self._api, key, manifest, [*present, FINALIZER])
        elif not wanted and FINALIZER in present:
            await self._release(key, manifest)

    async def reconcile(self, key: Key, manifest: Json, policy: object) -> Report | None:
        """One look at an object that is being deleted; None once it no longer waits for us."""
        if FINALIZER not in (manifest["metadata"].get("finalizers") or []):
            return None
        if not isinstance(policy, QueuePolicy):
            await self._release(key, manifest)  # never read, so never written
            return None
        remains = await attempt(self._remains(policy))
        orders = read(manifest)
        verdict = deletion.decide(remains, orders, _waited_seconds(manifest))
        if verdict.move is Move.DELETE and not await self._delete(key, policy, with_jobs=orders.force_delete):
            verdict = deletion.pushed_meanwhile()
        if verdict.move is Move.WAIT:
            blocked = Condition("CleanupBlocked", True, verdict.reason, verdict.message)
            not_ready = Condition("Ready", False, verdict.reason, "the policy is being deleted")
            return Report({"observedGeneration": policy.owner.generation}, (blocked, not_ready), "soon")
        await self._tell(key, manifest, verdict)
        await self._release(key, manifest)
        return None

    async def _remains(self, policy: QueuePolicy) -> Remains | None:
        """What the queue still holds; None if the queue is another policy's, whose jobs are none of ours."""
        reference = await self._servers.resolve(policy.owner.namespace, policy.redis)
        if await self._writer.is_anothers(reference.server, policy):
            return None
        return await queue_keys.remains(reference.server, policy.queue)

    async def _delete(self, key: Key, policy: QueuePolicy, *, with_jobs: bool) -> bool:
        """Whether the keys are gone."""
        reference = await self._servers.resolve(policy.owner.namespace, policy.redis)
        if not await reference.server.ask(
            lambda client: queue_keys.delete(client, policy.queue, with_jobs=with_jobs)
        ):
            return False
        await self._writer.remove(key)
        return True

    async def _tell(self, key: Key, manifest: Json, verdict: Verdict) -> None:
        await self._events.record(
            key,
            manifest,
            kind="Normal" if verdict.move is Move.DELETE else "Warning",
            reason=verdict.reason,
            action="Cleanup",
            note=verdict.message,
        )

    async def _release(self, key: Key, manifest: Json) -> None:
        rest = [each for each in manifest["metadata"]["finalizers"] if each != FINALIZER]
        await objects.set_finalizers(self._api, key, manifest, rest)


def _waited_seconds(manifest: Json) -> float:
    deleted_at = datetime.fromisoformat(manifest["metadata"]["deletionTimestamp"])
    return time.time() - deleted_at.timestamp()
