"""One policy under the autoscaler's eyes: what it remembers between ticks, and one tick."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.scaling.autoscaler import Rider, ScalingSpec, step
from stanchion.scaling.behavior import Behavior
from stanchion.scaling.decision import Decision
from stanchion.scaling.facts import QueueFacts
from stanchion.scaling.history import ScaleEvent, ScalingState
from stanchion.store.facts import sample
from stanchion_operator import metrics
from stanchion_operator.autoscale.fleet import Fleet, Sight
from stanchion_operator.decide import measured
from stanchion_operator.decide import target as targets
from stanchion_operator.decide.annotations import Orders, read
from stanchion_operator.decide.conditions import merge
from stanchion_operator.decide.target import Target
from stanchion_operator.errors import ApiError, Unreachable
from stanchion_operator.kube import status
from stanchion_operator.kube.cache import Cache
from stanchion_operator.kube.client import Api
from stanchion_operator.kube.paths import Key
from stanchion_operator.reconcile.placement import Placement

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]

LEAD_SECONDS = 30.0
"""From a decision to a worker that works, until it is measured: scheduled work due sooner is demand."""


class Subject:
    """State of one policy. `tick` is called by one task at a time."""

    def __init__(self, api: Api, cache: Cache, key: Key, tick_seconds: float) -> None:
        self._api, self._cache, self._key = api, cache, key
        self._tick_seconds = tick_seconds
        self._fleet = Fleet(api, cache)
        self._state = ScalingState.empty()
        self._events: list[ScaleEvent] | None = None
        self._reason = ""

    async def tick(self, placement: Placement) -> None:
        """Look, decide, act, show."""
        manifest = self._cache.get(self._key)
        if manifest is None or "deletionTimestamp" in manifest["metadata"]:
            return
        now = time.time()
        shown = manifest.get("status") or {}
        if self._events is None:
            self._events = measured.restored_events(shown)
            self._reason = shown.get("lastScaleReason") or ""
        orders = read(manifest)
        facts, riders = await self._facts(placement)
        target: Target | None = None
        decision: Decision | None = None
        if placement.target is not None:
            sight = await self._fleet.look(placement.target, facts.processes if facts else ())
            if sight is not None:
                metrics.CURRENT.labels(self._key.namespace, self._key.name).set(sight.replicas)
                decision = self._decide(placement.policy, facts, riders, sight.live, now)
                target = targets.decide(placement.policy, orders, sight.live, decision)
                target = await self._act(placement, orders, sight, target, now)
        await self._show(manifest, placement.policy, facts, target, decision, now)

    async def _facts(self, placement: Placement) -> tuple[QueueFacts | None, list[Rider]]:
        """The policy's own queue, and those that ride along; None if any could not be read."""
        try:
            facts, *others = [
                await placement.server.ask(partial(sample, queue=policy.queue, lead_seconds=LEAD_SECONDS))
                for policy in (placement.policy, *placement.riders)
            ]
        except Unreachable as trouble:
            logger.debug("%s: %s", self._key, trouble)
            return None, []
        riders = [
            Rider(rider_facts, policy.latency_target_seconds)
            for policy, rider_facts in zip(placement.riders, others, strict=True)
        ]
        return facts, riders

    def _decide(
        self, policy: QueuePolicy, facts: QueueFacts | None, riders: Sequence[Rider], live: int, now: float
    ) -> Decision | None:
        scaling, workers = policy.effective_autoscaling, policy.workers
        if scaling.mode != "Latency" or workers is None:
            return None
        fallback = scaling.fallback
        spec = ScalingSpec(
            target_seconds=policy.latency_target_seconds,
            slots_per_replica=workers.slots_per_replica,
            min_replicas=scaling.min_replicas,
            max_replicas=scaling.max_replicas,
            behavior=Behavior.from_spec(scaling.behavior),
            lead_seconds=LEAD_SECONDS,
            tick_seconds=self._tick_seconds,
            fallback_replicas=fallback.replicas if fallback else None,
            fallback_after_seconds=fallback.failure_seconds if fallback else 180.0,
        )
        # Only what was really written counts against the policies: a decision may wait for a drain.
        state = self._state.with_events(self._events or ())
        self._state, decision = step(state, spec, facts, live, now, riders=riders)
        return decision

    async def _act(
        self, placement: Placement, orders: Orders, sight: Sight, target: Target, now: float
    ) -> Target:
        """Bring the number about, and note what was written and what stood in the way.

        A number we have never written is taken by force once: a Deployment's first number always has
        some owner. After External we start anew.
        """
        if placement.policy.effective_autoscaling.mode == "External":
            self._events = []
        if target.replicas is None:
            return target
        force = orders.take_over or not self._events
        try:
            moved = await self._fleet.move(placement, sight, target.replicas, force=force)
        except ApiError as error:
            if error.status != 409:
                raise
            return target.fought(error.other_managers)
        except Unreachable as trouble:
            return target.held("RedisUnreachable", f"nobody can be asked to drain: {trouble.message}")
        if moved.replicas != sight.replicas:
            event = ScaleEvent(now, sight.replicas, moved.replicas)
            self._events = [*(self._events or ()), event][-measured.MOST_EVENTS :]
            self._reason = target.reason
            logger.info("%s: %d -> %d: %s", self._key, sight.replicas, moved.replicas, target.reason)
        return target.held("Draining", moved.holding) if moved.holding else target

    async def _show(
        self,
        manifest: Json,
        policy: QueuePolicy,
        facts: QueueFacts | None,
        target: Target | None,
        decision: Decision | None,
        now: float,
    ) -> None:
        self._measure(facts, target)
        fields = measured.fields(policy, facts, target, decision, self._events or (), self._reason, now)
        shown, metadata = manifest.get("status") or {}, manifest["metadata"]
        said = measured.conditions(policy, facts, target)
        fields["conditions"] = merge(shown.get("conditions") or (), said, metadata["generation"], now)
        if not measured.worth_writing(fields, shown, now):
            return
        written = await status.apply(self._api, self._key, metadata["uid"], fields, status.MEASURED)
        if written is not None:
            self._cache.put(self._key, written)

    def _measure(self, facts: QueueFacts | None, target: Target | None) -> None:
        labels = (self._key.namespace, self._key.name)
        if facts is not None:
            metrics.OLDEST_AGE.labels(*labels).set(facts.oldest_age_seconds)
            metrics.BACKLOG.labels(*labels).set(facts.waiting)
        if target is not None and target.desired is not None:
            metrics.DESIRED.labels(*labels).set(target.desired)
