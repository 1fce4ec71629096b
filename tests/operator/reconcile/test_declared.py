from __future__ import annotations

from typing import Any

from stanchion_operator.kube.paths import LOCK_POLICY, QUEUE_POLICY, Key
from stanchion_operator.reconcile.declared import Declared, key_of
from stanchion_operator.reconcile.dependents import of_queue_policy, spec_changed


def put(declared: Declared, name: str, *, namespace: str = "a", deleting: bool = False, **spec: Any) -> Key:
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}"}
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    key = Key(QUEUE_POLICY, namespace, name)
    declared.update(key, {"metadata": metadata, "spec": spec})
    return key


def names(policies: list[Any]) -> list[str]:
    return [policy.owner.key for policy in policies]


def test_policies_are_found_by_queue_and_by_namespace() -> None:
    declared = Declared()
    put(declared, "one", queueName="q")
    put(declared, "two", namespace="b", queueName="q")
    put(declared, "q")
    assert names(declared.queue_policies_of("q")) == ["a/one", "a/q", "b/two"]
    assert names(declared.queue_policies_in("a")) == ["a/one", "a/q"]


def test_one_that_is_going_away_claims_nothing_more() -> None:
    declared = Declared()
    key = put(declared, "one", queueName="q")
    put(declared, "one", queueName="q", deleting=True)
    assert declared.queue_policies_of("q") == []
    assert declared.entries() == {}
    assert declared.all_keys() == [key]
    declared.update(key, None)
    assert declared.all_keys() == []


def test_an_unreadable_policy_keeps_its_entry_so_that_no_sweep_takes_it() -> None:
    declared = Declared()
    crossed = {"mode": "Latency", "minReplicas": 5, "maxReplicas": 1}
    key = put(declared, "one", queueName="q", workers={"image": "i", "app": "a:b"}, autoscaling=crossed)
    reading = declared.reading(key)
    assert reading is not None
    assert reading.policy is None
    assert "minReplicas" in reading.problem
    assert declared.entries() == {key: "queue/q"}


def test_who_depends_on_a_policy_is_looked_at_with_it() -> None:
    declared = Declared()
    main = put(declared, "main", queueName="q", workers={"image": "i", "app": "a:b"})
    rider = put(declared, "rider", workers={"policyRef": {"name": "main"}})
    rival = put(declared, "rival", namespace="b", queueName="q")
    put(declared, "stranger")
    lock = Key(LOCK_POLICY, "a", "once")
    declared.update(lock, {"metadata": {"name": "once", "namespace": "a"}, "spec": {"lock": "UntilExecuted"}})
    policy = declared.queue_policies_of("q")[0]
    assert key_of(policy) == main
    assert {main, rider, rival, lock} == set(of_queue_policy(policy, declared))


def test_a_status_write_is_no_change_of_the_spec() -> None:
    before = {"metadata": {"generation": 1, "resourceVersion": "1"}}
    assert not spec_changed(before, {"metadata": {"generation": 1, "resourceVersion": "2"}})
    assert spec_changed(before, {"metadata": {"generation": 2}})
    assert spec_changed(before, {"metadata": {"generation": 1, "annotations": {"a": "b"}}})
    assert spec_changed(None, before)
    assert spec_changed(before, None)
