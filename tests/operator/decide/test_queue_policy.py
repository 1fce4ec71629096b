from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.store.config import WriteResult
from stanchion_operator.decide.annotations import Orders
from stanchion_operator.decide.queue_policy import WAKING_SECONDS, Passed, report
from stanchion_operator.decide.report import differs
from stanchion_operator.decide.workload import Workload, read
from stanchion_operator.errors import Missing, NotReady, SpecRefused, Taken, Unreachable

WRITTEN = WriteResult("unchanged", "a/q")
NOW = 1_000_000.0
AWAY = Unreachable("RedisUnreachable", "no answer")


def policy(**spec: Any) -> QueuePolicy:
    workers = {"image": "i", "app": "a:b"}
    return QueuePolicy.from_manifest({"metadata": {"name": "q"}, "spec": {"workers": workers} | spec})


def workload(wanted: int = 1, ready: int = 1, trouble: str = "") -> Workload:
    return Workload("q-workers", wanted, ready, ready, "a=b", trouble=trouble)


@pytest.mark.parametrize(
    ("config", "workers", "ready", "reason", "retry"),
    [
        (WRITTEN, workload(), True, "Ready", None),
        (WRITTEN, workload(0, 0), True, "Ready", None),
        (WRITTEN, workload(2, 0), False, "NoReadyWorkers", None),
        (WriteResult("conflict", "b/q"), None, False, "Conflict", None),
        (WriteResult("stale", "a/q"), workload(), False, "Stale", None),
        (AWAY, workload(), False, "RedisUnreachable", "soon"),
        (Taken("QueueTaken", "older"), None, False, "QueueTaken", "slowly"),
        (WRITTEN, Taken("NameTaken", "not ours"), False, "NameTaken", "slowly"),
        (WRITTEN, Missing("TargetMissing", "none"), False, "TargetMissing", "slowly"),
        (WRITTEN, SpecRefused("TemplateRefused", "hostPath"), False, "TemplateRefused", "never"),
        (AWAY, SpecRefused("TemplateRefused", "hostPath"), False, "RedisUnreachable", "soon"),
    ],
)
def test_ready_takes_the_reason_of_what_stands_in_its_way(
    config: WriteResult | NotReady,
    workers: Workload | NotReady | None,
    ready: bool,
    reason: str,
    retry: str | None,
) -> None:
    said = report(policy(), Orders(), Passed("r", config, workers), NOW)
    summary = next(each for each in said.conditions if each.type == "Ready")
    assert (summary.status, summary.reason, said.retry) == (ready, reason, retry)


def waking(**facts: Any) -> Workload:
    return replace(workload(2, 0), **{"unavailable_since": NOW - 5, **facts})


@pytest.mark.parametrize(
    ("workers", "was_asleep", "status", "reason"),
    [
        (waking(), True, True, "Waking"),
        (waking(observed=False, unavailable_since=None), True, True, "Waking"),
        (waking(unavailable_since=NOW - WAKING_SECONDS), True, False, "NoReadyWorkers"),
        (waking(unavailable_since=None), True, False, "NoReadyWorkers"),
        (waking(trouble="FailedCreate: quota"), True, False, "NoReadyWorkers"),
        (waking(), False, False, "NoReadyWorkers"),
        (workload(2, 1), True, True, "WorkersReady"),
    ],
)
def test_ready_does_not_dip_while_a_queue_wakes(
    workers: Workload, was_asleep: bool, status: bool, reason: str
) -> None:
    said = report(policy(), Orders(), Passed("r", WRITTEN, workers, was_asleep=was_asleep), NOW)
    by_type = {each.type: each for each in said.conditions}
    assert (by_type["WorkersAvailable"].status, by_type["WorkersAvailable"].reason) == (status, reason)
    assert by_type["Ready"].status is status


def test_ready_does_not_fall_for_what_stands_beside_it() -> None:
    said = report(policy(fairness="Tenant"), Orders(), Passed("r", WRITTEN, workload()), NOW)
    by_type = {each.type: each for each in said.conditions}
    assert by_type["Ready"].status is True
    assert (by_type["Effective"].status, by_type["Effective"].reason) == (False, "NotImplemented")
    assert "spec.fairness" in by_type["Effective"].message


def test_a_delete_we_may_not_carry_out_is_said() -> None:
    said = report(
        policy(deletionPolicy="Delete"), Orders(), Passed("r", WRITTEN, workload(), may_delete=False), NOW
    )
    effective = next(each for each in said.conditions if each.type == "Effective")
    assert "deletionPolicy" in effective.message


def test_who_fights_for_the_number_is_a_conflict() -> None:
    said = report(policy(), Orders(), Passed("r", WRITTEN, workload(), fighting="kubectl"), NOW)
    conflict = next(each for each in said.conditions if each.type == "Conflict")
    assert (conflict.status, conflict.reason, conflict.message) == (True, "ScaleConflict", "kubectl")


def test_the_scale_subresource_always_finds_its_fields() -> None:
    said = report(
        QueuePolicy.from_manifest({"metadata": {"name": "q"}}), Orders(), Passed("", AWAY, None), NOW
    )
    assert (said.fields["replicas"], said.fields["selector"]) == (0, "")


@pytest.mark.parametrize(
    ("wanted", "shown", "different"),
    [
        ({"a": 1}, {"a": 1, "theirs": 2}, False),
        ({"a": 1}, {"a": 2}, True),
        ({"a": {"b": 1}}, {}, True),
        ({"conditions": [{"type": "A", "status": "True"}]}, {"conditions": []}, True),
        (
            {"conditions": [{"type": "A", "status": "True"}]},
            {"conditions": [{"type": "B", "status": "x"}, {"type": "A", "status": "True", "more": 1}]},
            False,
        ),
        ({"list": [1, 2]}, {"list": [2, 1]}, True),
    ],
)
def test_only_what_is_ours_is_compared(wanted: Any, shown: Any, different: bool) -> None:
    assert differs(wanted, shown) is different


def deployment(**status: Any) -> dict[str, Any]:
    selector = {
        "matchLabels": {"b": "2", "a": "1"},
        "matchExpressions": [{"key": "tier", "operator": "In", "values": ["x", "y"]}],
    }
    return {
        "metadata": {"name": "d", "generation": 3},
        "spec": {"replicas": 2, "selector": selector},
        "status": {"observedGeneration": 3, "updatedReplicas": 2, **status},
    }


def test_a_deployments_selector_becomes_one_line() -> None:
    assert read(deployment()).selector == "a=1,b=2,tier in (x,y)"


@pytest.mark.parametrize(
    ("status", "rolling"),
    [({}, False), ({"observedGeneration": 2}, True), ({"updatedReplicas": 1}, True)],
)
def test_a_rollout_is_seen(status: dict[str, Any], rolling: bool) -> None:
    assert read(deployment(**status)).rolling is rolling


def test_since_when_too_few_pods_are_ready_is_seen() -> None:
    failing = {"type": "Available", "status": "False", "lastTransitionTime": "1970-01-12T13:46:40Z"}
    assert read(deployment(conditions=[failing])).unavailable_since == NOW
    assert read(deployment(conditions=[failing | {"status": "True"}])).unavailable_since is None


def test_a_deployments_own_words_are_passed_on() -> None:
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"}
    assert read(deployment(conditions=[failure])).trouble == "FailedCreate: quota"
