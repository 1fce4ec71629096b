"""One tick of the autoscaler: state and facts in, new state and decision out.

Called every few seconds by the local runner and by the operator's leader, who read the facts, carry the
decision out and keep the state. The order is HPA's: out of bounds → corrected at once; no facts → hold;
else demand → stabilize → limit → clamp. Three things differ on purpose: waking from zero goes straight
to the computed number, zero needs a queue in which nothing waits, runs or is about to fall due, and a
current number of 0 with `min_replicas` above it is raised (whose 0 it is, is the caller's to judge).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from stanchion.errors import InvalidPolicy
from stanchion.scaling import explanation, limits
from stanchion.scaling.behavior import Behavior
from stanchion.scaling.decision import Decision
from stanchion.scaling.estimate import Estimate, estimate, record
from stanchion.scaling.facts import QueueFacts
from stanchion.scaling.history import Recommendation, ScaleEvent, ScalingState
from stanchion.scaling.law import Demand, combine, demand


@dataclass(frozen=True, slots=True)
class ScalingSpec:
    """What the policy asks for. Raises InvalidPolicy if the bounds cross or a figure is not positive."""

    target_seconds: float
    slots_per_replica: int
    min_replicas: int
    max_replicas: int
    behavior: Behavior = field(default_factory=Behavior)
    lead_seconds: float = 30.0
    """From the decision to a ready replica: scheduled work due sooner counts as demand."""
    tick_seconds: float = 5.0
    fallback_replicas: int | None = None
    """At least so many once the facts have been missing for `fallback_after_seconds`. None: hold."""
    fallback_after_seconds: float = 180.0

    def __post_init__(self) -> None:
        if not 0 <= self.min_replicas <= self.max_replicas or self.max_replicas < 1:
            raise InvalidPolicy(
                "spec.autoscaling.minReplicas",
                f"{self.min_replicas} must lie between 0 and maxReplicas ({self.max_replicas}, at least 1)",
            )
        if self.target_seconds <= 0 or self.slots_per_replica < 1:
            raise InvalidPolicy("spec", "latencyTargetSeconds and concurrency must be positive")


@dataclass(frozen=True, slots=True)
class Rider:
    """Another queue that the same workers serve; its demand is added."""

    facts: QueueFacts
    target_seconds: float


def step(
    state: ScalingState,
    spec: ScalingSpec,
    facts: QueueFacts | None,
    current_replicas: int,
    now: float,
    *,
    riders: Sequence[Rider] = (),
) -> tuple[ScalingState, Decision]:
    """Decide the replicas for now.

    `facts` is None when Redis, or any queue that rides along, could not be read. `now` is the caller's
    clock in seconds (monotonic or not: the events in the state must use the same one).
    """
    if not state.recommendations:
        state = replace(state, recommendations=(Recommendation(now, current_replicas),))
    if facts is None:
        return _decide_blind(state, spec, current_replicas, now)
    state = _with_samples(state, spec, facts, riders)
    own, total = _demand(state, spec, facts, riders, current_replicas)
    idle = facts.idle and all(rider.facts.idle for rider in riders)
    wanted = max(total.replicas, 0 if idle else 1)
    if _bounded(current_replicas, spec) != current_replicas:
        decision = _correct(spec, current_replicas, own, total)
    else:
        decision = _limited(state, spec, wanted, current_replicas, own, total, now)
    state = _with_recommendation(state, spec, wanted, now)
    return _with_event(state, spec, decision, now), decision


def _with_samples(
    state: ScalingState, spec: ScalingSpec, facts: QueueFacts, riders: Sequence[Rider]
) -> ScalingState:
    samples: list[QueueFacts] = []
    for new in (facts, *(rider.facts for rider in riders)):
        earlier = [sample for sample in state.samples if sample.queue == new.queue]
        samples += record(earlier, new, spec.tick_seconds)
    return replace(state, samples=tuple(samples), blind_since_seconds=None)


def _demand(
    state: ScalingState,
    spec: ScalingSpec,
    facts: QueueFacts,
    riders: Sequence[Rider],
    current_replicas: int,
) -> tuple[Estimate, Demand]:
    """The estimate of the policy's own queue, and the demand of all queues together."""
    targets = {facts.queue: spec.target_seconds} | {r.facts.queue: r.target_seconds for r in riders}
    estimates = {
        queue: estimate(
            [sample for sample in state.samples if sample.queue == queue],
            target_seconds=target_seconds,
            lead_seconds=spec.lead_seconds,
        )
        for queue, target_seconds in targets.items()
    }
    demands = [demand(estimates[queue], target_seconds=targets[queue]) for queue in targets]
    total = combine(
        demands,
        slots_per_replica=spec.slots_per_replica,
        current_replicas=current_replicas,
        tolerance_up=spec.behavior.up.tolerance,
        tolerance_down=spec.behavior.down.tolerance,
    )
    return estimates[facts.queue], total


def _decide_blind(
    state: ScalingState, spec: ScalingSpec, current: int, now: float
) -> tuple[ScalingState, Decision]:
    """No facts: bounds still hold, the number never falls, and a fallback may raise it."""
    since = now if state.blind_since_seconds is None else state.blind_since_seconds
    state = replace(state, blind_since_seconds=since)
    decision = _correct(spec, current, None, None)
    waited_seconds = now - since
    fallback = spec.fallback_replicas
    if fallback is not None and waited_seconds >= spec.fallback_after_seconds:
        desired = _bounded(max(decision.desired, fallback), spec)
        decision = replace(decision, desired=desired, reason=explanation.fallback(desired, waited_seconds))
    # What was held counts as wanted: the first look after an outage knows no rate and must not scale in.
    state = _with_recommendation(state, spec, decision.desired, now)
    return _with_event(state, spec, decision, now), decision


def _correct(spec: ScalingSpec, current: int, own: Estimate | None, total: Demand | None) -> Decision:
    """The number brought within its bounds at once, past windows and policies."""
    desired = _bounded(current, spec)
    return Decision(
        current=current,
        desired=desired,
        estimate=own,
        demand=total,
        able_to_scale=explanation.ready_for_new_scale(),
        scaling_active=explanation.active() if own else explanation.blind(),
        scaling_limited=explanation.limited(
            current, spec.min_replicas, spec.max_replicas, spec.min_replicas, spec.max_replicas
        ),
        reason=explanation.correction(current, spec.min_replicas, spec.max_replicas),
    )


def _limited(
    state: ScalingState,
    spec: ScalingSpec,
    wanted: int,
    current: int,
    own: Estimate,
    total: Demand,
    now: float,
) -> Decision:
    """The wanted number through window, policies and bounds."""
    stable = limits.stabilize(wanted, current, state.recommendations, spec.behavior, now)
    low = limits.down_limit(current, state.events, spec.behavior.down, now)
    high = limits.up_limit(current, state.events, spec.behavior.up, now)
    if current == 0:  # waking: the first jobs have no one to run them while windows and policies last
        stable, high = wanted, spec.max_replicas
    desired = _bounded(min(max(stable, low), high), spec)
    limited = explanation.limited(stable, low, high, spec.min_replicas, spec.max_replicas)
    able = explanation.stabilized(wanted, stable)
    return Decision(
        current=current,
        desired=desired,
        estimate=own,
        demand=total,
        able_to_scale=able,
        scaling_active=explanation.active(),
        scaling_limited=limited,
        reason=explanation.reason(own, total, spec.target_seconds, desired, able, limited),
    )


def _bounded(replicas: int, spec: ScalingSpec) -> int:
    return min(max(replicas, spec.min_replicas), spec.max_replicas)


def _with_recommendation(state: ScalingState, spec: ScalingSpec, wanted: int, now: float) -> ScalingState:
    window_seconds = max(
        spec.behavior.up.stabilization_window_seconds, spec.behavior.down.stabilization_window_seconds
    )
    kept = [past for past in state.recommendations if past.at_seconds > now - window_seconds]
    return replace(state, recommendations=(*kept, Recommendation(now, wanted)))


def _with_event(state: ScalingState, spec: ScalingSpec, decision: Decision, now: float) -> ScalingState:
    event = ScaleEvent(now, decision.current, decision.desired) if decision.changed else None
    return replace(state, events=limits.remember(state.events, event, spec.behavior, now))
