"""How many replicas are wanted now: the law's number, the spec's or an order's, or none of ours at all."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.scaling import decision as law
from stanchion.scaling.decision import Decision
from stanchion_operator.decide.annotations import Orders
from stanchion_operator.decide.conditions import Condition

SCALE_CONFLICT = "ScaleConflict"
"""Reason of AbleToScale when another scaler owns the number; the condition Conflict repeats it."""


@dataclass(frozen=True, slots=True)
class Target:
    """`replicas` is what we shall bring about, `desired` what we say is wanted; None where it is not ours."""

    replicas: int | None
    desired: int | None
    reason: str
    active: Condition
    able: Condition
    limited: Condition

    def held(self, reason: str, message: str) -> Target:
        """This target while something delays it that will pass."""
        return replace(self, able=Condition("AbleToScale", True, reason, message))

    def fought(self, others: str) -> Target:
        """This target where another scaler owns the number; a mere race of two writes says nothing."""
        if not others:
            return self
        message = f"another scaler owns the number: {others}. Set mode External, or stop the other"
        return replace(self, able=Condition("AbleToScale", False, SCALE_CONFLICT, message))


def decide(policy: QueuePolicy, orders: Orders, current: int, decision: Decision | None) -> Target:
    """The target of a policy with workers. `decision` is the law's; it is needed in Latency mode only.

    Orders outrank the mode, except that nobody scales what External leaves to another.
    """
    scaling = policy.effective_autoscaling
    if scaling.mode == "External":
        return _steady(None, None, "External", "another autoscaler owns the number of replicas")
    held = orders.paused_replicas
    if held is not None:
        return _steady(held, held, "PausedByAnnotation", f"held at {held} by annotation")
    if orders.paused:
        return _steady(None, current, "PausedByAnnotation", "scaling is paused by annotation")
    if scaling.mode == "Manual":
        number = policy.workers.replicas if policy.workers else None
        asked = current if number is None else number
        return _steady(number, asked, "Manual", f"spec.workers.replicas asks for {asked}")
    if decision is None:
        raise ValueError("Latency mode is decided by the law: it must be asked first")
    return _by_law(decision, orders, dry_run=scaling.dry_run)


def _steady(replicas: int | None, desired: int | None, reason: str, message: str) -> Target:
    """A target that the law has no part in."""
    return Target(
        replicas,
        desired,
        message,
        active=Condition("ScalingActive", False, reason, message),
        able=Condition("AbleToScale", True, "ReadyForNewScale", "nothing holds the number back"),
        limited=Condition("ScalingLimited", False, "DesiredWithinRange", "no limit applies"),
    )


def _by_law(decision: Decision, orders: Orders, *, dry_run: bool) -> Target:
    wanted = decision.desired
    able = _condition("AbleToScale", decision.able_to_scale)
    replicas: int | None = wanted
    if wanted > decision.current and orders.paused_scale_out:
        replicas, able = None, Condition("AbleToScale", False, "PausedByAnnotation", "scale-out is paused")
    elif wanted < decision.current and orders.paused_scale_in:
        replicas, able = None, Condition("AbleToScale", False, "PausedByAnnotation", "scale-in is paused")
    active = _condition("ScalingActive", decision.scaling_active)
    if dry_run:
        replicas = None
        active = Condition("ScalingActive", False, "DryRun", f"would be {wanted}: {decision.reason}")
    return Target(
        replicas,
        wanted,
        decision.reason,
        active=active,
        able=able,
        limited=_condition("ScalingLimited", decision.scaling_limited),
    )


def _condition(kind: str, said: law.Condition) -> Condition:
    return Condition(kind, said.status, said.reason, said.message)
