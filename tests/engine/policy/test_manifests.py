"""Manifests become frozen values; what no schema can refuse is refused with the field's path."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.errors import InvalidPolicy
from stanchion.policy.autoscaling import Autoscaling, Dependency, Fallback, Schedule
from stanchion.policy.lock_policy import AutoTtl, LockKey, LockPolicy
from stanchion.policy.match import Match
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import DeadLimits, QueuePolicy, RedisRef, TenantSource
from stanchion.policy.tenant_budget import Limits, TenantBudget
from stanchion.policy.workers import TargetRef, Workers


def queue(**spec: Any) -> QueuePolicy:
    return QueuePolicy.from_manifest({"metadata": {"name": "imports", "namespace": "shop"}, "spec": spec})


def lock(**spec: Any) -> LockPolicy:
    return LockPolicy.from_manifest({"metadata": {"name": "l"}, "spec": {"lock": "UntilExecuted", **spec}})


def budget(**spec: Any) -> TenantBudget:
    return TenantBudget.from_manifest({"metadata": {"name": "b"}, "spec": spec})


def test_an_empty_queue_policy_governs_the_queue_of_its_name() -> None:
    policy = QueuePolicy.from_manifest({"metadata": {"name": "imports"}})
    assert policy == QueuePolicy(owner=Owner("default", "imports"), queue="imports")
    assert policy.effective_autoscaling == Autoscaling("Latency", 1, 10)
    assert (policy.latency_target_seconds, policy.fairness, policy.paused) == (30, "None", False)


def test_a_full_queue_policy() -> None:
    policy = queue(
        queueName="bulk",
        redis={"secretRef": {"name": "shop-redis"}},
        tenantFrom=[{"path": "args[0]", "jobs": ["a.*"]}],
        retry={"maxRetries": 0},
        dead={"maxJobs": 5},
        workers={"image": "i", "app": "a:b", "concurrency": 4, "processes": 3, "env": [{"name": "A"}]},
        autoscaling={
            "mode": "Latency",
            "minReplicas": 0,
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
            "schedules": [{"start": "0 8 * * *", "end": "0 9 * * *", "minReplicas": 3}],
            "dependencies": [{"name": "db", "maxConcurrency": 9}],
            "fallback": {"replicas": 4},
        },
        deletionPolicy="Delete",
    )
    assert policy.queue == "bulk"
    assert policy.redis == RedisRef("shop-redis", "url")
    assert policy.tenant_from == (TenantSource("args[0]", ("a.*",)),)
    assert policy.max_retries == 0
    assert policy.dead == DeadLimits(5, 15_552_000)
    assert policy.workers == Workers(image="i", app="a:b", concurrency=4, processes=3, env=({"name": "A"},))
    assert policy.workers.slots_per_replica == 12
    scaling = policy.effective_autoscaling
    assert scaling.schedules == (Schedule("Etc/UTC", "0 8 * * *", "0 9 * * *", 3),)
    assert scaling.dependencies == (Dependency("db", 9),)
    assert scaling.fallback == Fallback(180, 4)
    assert scaling.behavior == {"scaleDown": {"stabilizationWindowSeconds": 60}}


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ({"targetRef": {"name": "sidekiq"}}, Workers(target_ref=TargetRef("Deployment", "sidekiq"))),
        ({"policyRef": {"name": "default"}, "weight": 5}, Workers(policy_ref="default", weight=5)),
    ],
)
def test_other_workers(workers: dict[str, Any], expected: Workers) -> None:
    assert queue(workers=workers).workers == expected


def test_a_manual_queue_may_state_replicas() -> None:
    policy = queue(workers={"image": "i", "app": "a:b", "replicas": 2}, autoscaling={"mode": "Manual"})
    assert policy.workers is not None
    assert policy.workers.replicas == 2


IMAGE = {"image": "i", "app": "a:b"}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"workers": {}}, "spec.workers"),
        ({"workers": {**IMAGE, "targetRef": {"name": "x"}}}, "spec.workers"),
        ({"workers": {"image": "i"}}, "spec.workers.app"),
        ({"workers": {**IMAGE, "replicas": 2}}, "spec.workers.replicas"),
        ({"workers": {**IMAGE, "queueOrder": "Fair"}}, "spec.workers.queueOrder"),
        ({"autoscaling": {}}, "spec.autoscaling"),
        ({"workers": {"policyRef": {"name": "x"}}, "autoscaling": {}}, "spec.autoscaling"),
        ({"workers": IMAGE, "autoscaling": {"minReplicas": 11}}, "spec.autoscaling.minReplicas"),
        ({"paused": "yes"}, "spec.paused"),
        ({"latencyTargetSeconds": True}, "spec.latencyTargetSeconds"),
        ({"dead": 5}, "spec.dead"),
        ({"tenantFrom": [{}]}, "spec.tenantFrom[0].path"),
    ],
)
def test_an_impossible_queue_policy_names_its_field(spec: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        queue(**spec)
    assert caught.value.field == field


def test_a_manifest_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidPolicy, match=r"metadata\.name: is required"):
        QueuePolicy.from_manifest({"spec": {}})


def test_a_lock_states_nothing_it_was_not_told() -> None:
    policy = lock()
    assert policy.match == Match(("*",), ("*",))
    assert (policy.limit, policy.ttl, policy.key) == (None, None, LockKey())
    assert (policy.on_conflict_enqueue, policy.on_conflict_execute) == (None, None)


def test_a_full_lock() -> None:
    policy = lock(
        match={"queues": ["q"]},
        limit=3,
        ttl={"auto": {"factor": 3}},
        key={"include": [], "perTenant": True},
        onConflict={"execute": "Kill"},
        dryRun=True,
    )
    assert policy.match == Match(("q",), ("*",))
    assert policy.ttl == AutoTtl(factor=3.0)
    assert policy.key == LockKey(include=(), per_tenant=True)
    assert policy.on_conflict_execute == "Kill"
    assert policy.dry_run


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"lock": None}, "spec.lock"),
        ({"lock": "UntilExpired"}, "spec.ttl.seconds"),
        ({"lock": "UntilExpired", "ttl": {"auto": {}}}, "spec.ttl.seconds"),
        ({"ttl": {"auto": {}, "seconds": 5}}, "spec.ttl"),
        ({"lock": "WhileExecuting", "onConflict": {"enqueue": "Replace"}}, "spec.lock"),
        ({"limit": 2, "onConflict": {"enqueue": "RerunOnce"}}, "spec.limit"),
        ({"digest": "UniqueJobsModern", "onConflict": {"enqueue": "Replace"}}, "spec.digest"),
        ({"onConflict": {"enqueue": "Park"}}, "spec.onConflict.enqueue"),
    ],
)
def test_an_impossible_lock_names_its_field(spec: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        lock(**spec)
    assert caught.value.field == field


def test_limits_are_inherited_from_tier_and_default() -> None:
    policy = budget(
        default={"ratePerSecond": 5, "burst": 20, "maxInFlight": 10},
        tiers=[{"name": "pro", "ratePerSecond": 50, "weight": 3}, {"name": "free", "ratePerSecond": 0}],
        tenants=[{"name": "acme", "tier": "pro", "burst": 7}],
    )
    assert policy.limits("acme") == Limits(50.0, 7, 10, 3)
    assert policy.limits("acme", tier="free") == Limits(0.0, 7, 10, None)
    assert policy.limits("stranger") == Limits(5.0, 20, 10)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"match": {}}, "spec"),
        ({"default": {}, "tenants": [{"name": "acme", "tier": "gold"}]}, "spec.tenants[0].tier"),
        ({"default": {"ratePerSecond": "5"}}, "spec.default.ratePerSecond"),
        ({"default": {"burst": 1.5}}, "spec.default.burst"),
    ],
)
def test_an_impossible_budget_names_its_field(spec: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        budget(**spec)
    assert caught.value.field == field
