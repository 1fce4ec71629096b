"""What two manifests can do wrong together."""

from __future__ import annotations

import json

from stanchion.manifest.check import check_set
from stanchion.manifest.conflicts import MAX_RIDERS
from stanchion.manifest.document import Json, Manifest
from stanchion.manifest.load import load_text

IMAGE = {"image": "i", "app": "a:b"}


def policy(name: str, spec: Json = None, namespace: str = "default", kind: str = "QueuePolicy") -> Manifest:
    body = {
        "apiVersion": "stanchion.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec or {},
    }
    (manifest,) = load_text(json.dumps(body), f"{name}.yaml").manifests
    return manifest


def said(*manifests: Manifest, one_redis: bool = False) -> list[str]:
    return [str(problem) for problem in check_set(manifests, one_redis=one_redis)]


def test_different_queues_do_not_conflict() -> None:
    assert said(policy("a"), policy("b"), policy("a", kind="TenantBudget")) == []


def test_an_object_stated_twice() -> None:
    assert said(policy("a"), policy("a")) == [
        "a.yaml:1: metadata.name: QueuePolicy a is already stated at a.yaml:1"
    ]


def test_two_policies_for_one_queue() -> None:
    assert said(policy("mail"), policy("b", {"queueName": "mail"})) == [
        "b.yaml:1: spec.queueName: queue mail already belongs to QueuePolicy default/mail at mail.yaml:1"
    ]


def test_queues_of_one_name_on_different_servers_do_not_conflict() -> None:
    other = {"queueName": "mail", "redis": {"secretRef": {"name": "other", "key": "url"}}}
    pairs = [(policy("mail"), policy("b", other)), (policy("mail"), policy("mail", namespace="shop"))]

    for pair in pairs:
        assert said(*pair) == []
        assert len(said(*pair, one_redis=True)) == 1


def test_an_absent_key_is_the_default_key() -> None:
    stated = {"queueName": "mail", "redis": {"secretRef": {"name": "s", "key": "url"}}}
    absent = {"queueName": "mail", "redis": {"secretRef": {"name": "s"}}}

    assert len(said(policy("a", stated), policy("b", absent))) == 1


def test_two_policies_for_one_deployment() -> None:
    workers = {"workers": {"targetRef": {"name": "sidekiq"}}}

    assert said(policy("a", workers), policy("b", workers)) == [
        "b.yaml:1: spec.workers.targetRef: "
        "Deployment sidekiq already belongs to QueuePolicy default/a at a.yaml:1"
    ]
    assert said(policy("a", workers), policy("b", workers, namespace="shop")) == []


def test_riding_on_workers_that_are_there() -> None:
    rider = {"workers": {"policyRef": {"name": "main"}}}

    assert said(policy("main", {"workers": IMAGE}), policy("b", rider)) == []
    assert said(policy("b", rider)) == [], "the owner may be in the cluster already"


def test_riding_on_a_policy_without_workers_and_on_another_rider() -> None:
    rider = {"workers": {"policyRef": {"name": "main"}}}
    for owner in ({}, {"workers": {"policyRef": {"name": "elsewhere"}}}):
        assert said(policy("main", owner), policy("b", rider)) == [
            "b.yaml:1: spec.workers.policyRef.name: "
            "QueuePolicy main has no workers of its own (image or targetRef)"
        ]


def test_riding_on_workers_of_another_redis() -> None:
    rider = {"workers": {"policyRef": {"name": "main"}}, "redis": {"secretRef": {"name": "other"}}}
    pair = (policy("main", {"workers": IMAGE}), policy("b", rider))

    assert said(*pair) == ["b.yaml:1: spec.workers.policyRef.name: QueuePolicy main is on another Redis"]
    assert said(*pair, one_redis=True) == []


def test_too_many_riders() -> None:
    rider = {"workers": {"policyRef": {"name": "main"}}}
    riders = [policy(f"rider-{number}", rider) for number in range(MAX_RIDERS + 1)]

    assert said(policy("main", {"workers": IMAGE}), *riders) == [
        f"rider-{MAX_RIDERS}.yaml:1: spec.workers.policyRef.name: "
        f"more than {MAX_RIDERS} queues ride on QueuePolicy main"
    ]
