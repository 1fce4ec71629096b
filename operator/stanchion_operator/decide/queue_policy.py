"""What the status of a QueuePolicy says, from how each step of a pass went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.store.config import WriteResult
from stanchion_operator.decide import effective
from stanchion_operator.decide.annotations import Orders
from stanchion_operator.decide.conditions import Condition
from stanchion_operator.decide.report import Report
from stanchion_operator.decide.target import SCALE_CONFLICT
from stanchion_operator.decide.workload import Workload
from stanchion_operator.errors import NotReady, Retry, Taken

WAKING_SECONDS = 60.0
"""So long the first pods since zero may take to start before the workers count as missing."""
ASLEEP = ("ScaledToZero", "Waking")
SOONEST_FIRST: tuple[Retry, ...] = ("soon", "slowly", "never")


@dataclass(frozen=True, slots=True)
class Passed:
    """How the steps went. A step that was not due is None."""

    server_label: str
    config: WriteResult | NotReady
    workload: Workload | NotReady | None
    may_delete: bool = True
    """Whether `deletionPolicy: Delete` can be honored."""
    fighting: str = ""
    """Who else scales the target, in the API server's words."""
    was_asleep: bool = False
    """The status says that no worker was wanted, or that the first ones were starting."""


def invalid(message: str) -> Report:
    """A spec that no schema could refuse; nothing is done until it changes."""
    refused = Condition("Ready", False, "Invalid", message)
    return Report({}, (refused,), "never")


def report(policy: QueuePolicy, orders: Orders, passed: Passed, now: float) -> Report:
    """Fields and conditions of a policy whose steps were tried. `now` is in epoch seconds."""
    synced = config_synced(passed.config)
    conflict = _conflict(passed)
    conditions = [synced, conflict, effective.queue_policy(policy, may_delete=passed.may_delete)]
    if policy.workers is not None:
        conditions.append(_workers_available(passed.workload, passed.was_asleep, now))
    conditions.append(ready(conditions, orders))
    return Report(_fields(policy, passed), tuple(conditions), _retry(passed), was_repaired(passed.config))


def was_repaired(result: WriteResult | NotReady) -> bool:
    """Whether the write put right what somebody else had changed."""
    return isinstance(result, WriteResult) and result.outcome == "repaired"


def soonest(troubles: Sequence[NotReady]) -> NotReady:
    """Of several troubles the one to show: trying again can help it first; the same one at every pass."""
    return min(troubles, key=lambda trouble: (SOONEST_FIRST.index(trouble.retry), trouble.message))


def config_synced(result: WriteResult | NotReady) -> Condition:
    """ConfigSynced, for every kind."""
    if isinstance(result, NotReady):
        return Condition("ConfigSynced", False, result.reason, result.message)
    if result.outcome == "conflict":
        return Condition("ConfigSynced", False, "Conflict", f"the config hash belongs to {result.owner}")
    if result.outcome == "stale":
        return Condition(
            "ConfigSynced",
            False,
            "Stale",
            "a newer generation, or a newer leader, has written the config hash",
        )
    return Condition("ConfigSynced", True, "InRedis", "Redis holds the config of this generation")


def ready(conditions: Sequence[Condition], orders: Orders) -> Condition:
    """Ready: no conflict, config in Redis, workers available if asked for; else the first that fails."""
    for condition in conditions:
        bad = condition.status if condition.type == "Conflict" else condition.status is False
        if bad and condition.type in ("Conflict", "ConfigSynced", "WorkersAvailable"):
            return Condition("Ready", False, condition.reason, condition.message)
    notes = "; ".join(f"ignored: {problem}" for problem in orders.problems)
    return Condition("Ready", True, "Ready", notes or "the policy is in force")


def _conflict(passed: Passed) -> Condition:
    for result in (passed.config, passed.workload):
        if isinstance(result, Taken):
            return Condition("Conflict", True, result.reason, result.message)
    if isinstance(passed.config, WriteResult) and passed.config.outcome == "conflict":
        owner = passed.config.owner
        return Condition("Conflict", True, "QueueTaken", f"{owner} owns this queue's config on this Redis")
    if passed.fighting:
        return Condition("Conflict", True, SCALE_CONFLICT, passed.fighting)
    return Condition("Conflict", False, "NoConflict", "nobody else claims the queue or its workers")


def _workers_available(workload: Workload | NotReady | None, was_asleep: bool, now: float) -> Condition:
    if workload is None:
        return Condition("WorkersAvailable", None, "Unknown", "the workers were not looked at")
    if isinstance(workload, NotReady):
        return Condition("WorkersAvailable", False, workload.reason, workload.message)
    if workload.wanted == 0:
        return Condition("WorkersAvailable", True, "ScaledToZero", "no worker is wanted now")
    if workload.ready == 0 and was_asleep and _is_starting(workload, now):
        return Condition("WorkersAvailable", True, "Waking", "the first pods since zero are starting")
    if workload.ready == 0:
        return Condition(
            "WorkersAvailable",
            False,
            "NoReadyWorkers",
            workload.trouble or f"none of the pods of {workload.name} is ready",
        )
    return Condition("WorkersAvailable", True, "WorkersReady", f"pods of {workload.name} are ready")


def _is_starting(workload: Workload, now: float) -> bool:
    """Whether pods were asked for a moment ago: a queue that wakes is not broken, and stays Ready."""
    if workload.trouble:
        return False
    since = workload.unavailable_since
    return not workload.observed or (since is not None and now - since < WAKING_SECONDS)


def _fields(policy: QueuePolicy, passed: Passed) -> dict[str, Any]:
    workload = passed.workload if isinstance(passed.workload, Workload) else None
    fields: dict[str, Any] = {
        "observedGeneration": policy.owner.generation,
        "queue": policy.queue,
        "latencyTargetSeconds": policy.latency_target_seconds,
        "matched": {"queues": 1},
        "replicas": workload.running if workload else 0,
        "readyReplicas": workload.ready if workload else 0,
        # An HPA that targets the policy gets an error unless this is a string.
        "selector": workload.selector if workload else "",
    }
    if passed.server_label:
        fields["redis"] = {"server": passed.server_label}
    if policy.workers is not None and policy.workers.policy_ref is None:
        scaling = policy.effective_autoscaling
        fields |= {"minReplicas": scaling.min_replicas, "maxReplicas": scaling.max_replicas}
    return fields


def _retry(passed: Passed) -> Retry | None:
    troubles = [result.retry for result in (passed.config, passed.workload) if isinstance(result, NotReady)]
    return min(troubles, key=SOONEST_FIRST.index, default=None)
