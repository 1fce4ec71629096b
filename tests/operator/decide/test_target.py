from __future__ import annotations

from typing import Any

import pytest

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.scaling import decision as law
from stanchion.scaling.decision import Decision
from stanchion_operator.decide.annotations import Orders
from stanchion_operator.decide.target import SCALE_CONFLICT, decide

YES = law.Condition(True, "ReadyForNewScale", "")


def policy(mode: str = "Latency", replicas: int | None = None, *, dry_run: bool = False) -> QueuePolicy:
    workers: dict[str, Any] = {"image": "i", "app": "a:b"}
    if replicas is not None:
        workers["replicas"] = replicas
    spec = {"workers": workers, "autoscaling": {"mode": mode, "dryRun": dry_run}}
    return QueuePolicy.from_manifest({"metadata": {"name": "q"}, "spec": spec})


def by_law(current: int, desired: int) -> Decision:
    return Decision(
        current, desired, None, None, YES, YES, law.Condition(False, "DesiredWithinRange", ""), "why"
    )


@pytest.mark.parametrize(
    ("orders", "current", "desired", "replicas"),
    [
        (Orders(), 2, 5, 5),
        (Orders(paused=True), 2, 5, None),
        (Orders(paused_replicas=1), 2, 5, 1),
        (Orders(paused_scale_out=True), 2, 5, None),
        (Orders(paused_scale_out=True), 5, 2, 2),
        (Orders(paused_scale_in=True), 5, 2, None),
        (Orders(paused_scale_in=True), 2, 5, 5),
    ],
)
def test_orders_outrank_the_law(orders: Orders, current: int, desired: int, replicas: int | None) -> None:
    assert decide(policy(), orders, current, by_law(current, desired)).replicas == replicas


def test_a_dry_run_says_the_number_and_does_nothing() -> None:
    target = decide(policy(dry_run=True), Orders(), 1, by_law(1, 4))
    assert (target.replicas, target.desired, target.active.reason) == (None, 4, "DryRun")


@pytest.mark.parametrize(("replicas", "desired"), [(7, 7), (0, 0), (None, 3)])
def test_manual_takes_the_specs_number_or_keeps_the_present_one(replicas: int | None, desired: int) -> None:
    target = decide(policy("Manual", replicas), Orders(), 3, None)
    assert (target.replicas, target.desired) == (replicas, desired)


def test_external_is_left_alone_whatever_the_orders_say() -> None:
    target = decide(policy("External"), Orders(paused_replicas=4), 3, None)
    assert (target.replicas, target.desired) == (None, None)


def test_a_fight_is_reported_and_a_mere_race_is_not() -> None:
    target = decide(policy(), Orders(), 1, by_law(1, 2))
    assert target.fought("") == target
    fought = target.fought('conflict with "kubectl"')
    assert (fought.able.status, fought.able.reason) == (False, SCALE_CONFLICT)
    assert "kubectl" in fought.able.message
