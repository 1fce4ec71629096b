"""LockPolicies and TenantBudgets: written to every Redis that a queue they match is on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.match import is_shadowed
from stanchion.policy.scope import queues_of, redis_of
from stanchion.policy.tenant_budget import TenantBudget
from stanchion.store.config import WriteResult
from stanchion_operator.decide import effective
from stanchion_operator.decide import queue_policy as decide
from stanchion_operator.decide.annotations import read
from stanchion_operator.decide.report import Report
from stanchion_operator.errors import NotReady
from stanchion_operator.kube.paths import Key
from stanchion_operator.reconcile.base import attempt
from stanchion_operator.reconcile.config_writer import ConfigWriter
from stanchion_operator.reconcile.declared import Declared
from stanchion_operator.redis_config.servers import Reference, Servers

Json = Mapping[str, Any]
Rule = LockPolicy | TenantBudget


class Rules:
    """The kinds LockPolicy and TenantBudget of the loop. `enforced`: whether the gate obeys them."""

    def __init__(self, declared: Declared, servers: Servers, writer: ConfigWriter, *, enforced: bool) -> None:
        self._declared, self._servers, self._writer = declared, servers, writer
        self._enforced = enforced

    async def reconcile(self, key: Key, manifest: Json) -> Report | None:
        """Write the config where its queues are, and say how many those are."""
        reading = self._declared.reading(key)
        if reading is None:
            return None
        if reading.deleting:
            return None  # nothing of ours holds it up; `forget` follows
        if not isinstance(reading.policy, Rule):
            return decide.invalid(reading.problem)
        rule, orders = reading.policy, read(manifest)
        queues = [each.queue for each in self._queues(rule)]
        written = await attempt(self._write(key, rule, take_over=orders.take_over))
        conditions = [
            decide.config_synced(written),
            effective.rule(queues, enforced=self._enforced),
            effective.shadowed(self._is_shadowed(key.kind, rule, queues)),
        ]
        conditions.append(decide.ready(conditions, orders))
        fields = {"observedGeneration": rule.owner.generation, "matched": {"queues": len(queues)}}
        retry = written.retry if isinstance(written, NotReady) else None
        return Report(fields, tuple(conditions), retry, decide.was_repaired(written))

    async def forget(self, key: Key) -> None:
        """The rule is gone: its hashes go."""
        await self._writer.remove(key)

    async def _write(self, key: Key, rule: Rule, *, take_over: bool) -> WriteResult:
        """Every server that is known gets the hash; then what kept the others from it is raised."""
        references = redis_of(rule, self._declared.queue_policies_in(key.namespace))
        found = [await attempt(self._servers.resolve(key.namespace, each)) for each in references]
        servers = [each.server for each in found if isinstance(each, Reference)]
        troubles = [each for each in found if isinstance(each, NotReady)]
        result = await self._writer.write(key, rule, servers, take_over=take_over, all_known=not troubles)
        if troubles:
            raise decide.soonest(troubles)
        return result

    def _queues(self, rule: Rule) -> tuple[Any, ...]:
        return queues_of(rule, self._declared.queue_policies_in(rule.owner.namespace))

    def _is_shadowed(self, kind: str, rule: Rule, queues: list[str]) -> bool:
        rivals = [each for each in self._declared.rules_in(kind, rule.owner.namespace) if each != rule]
        return is_shadowed(rule, rivals, queues)
