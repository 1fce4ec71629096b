"""Policies become groups of workers, with exactly the command a Deployment would run."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from stanchion.dev.group import Group, groups_of, parse_exec
from stanchion.errors import CommandError
from stanchion.policy.queue_policy import QueuePolicy

URL = "redis://127.0.0.1:1/0"
OWN: dict[str, Any] = {"image": "shop:1", "app": "shop.jobs:app"}


def policy(name: str, **spec: Any) -> QueuePolicy:
    return QueuePolicy.from_manifest({"metadata": {"name": name}, "spec": spec})


def group(*policies: QueuePolicy, app: str | None = None, **commands: tuple[str, ...]) -> Group:
    (only,) = groups_of(policies, app=app, commands=commands, redis_url=URL)
    return only


def test_the_command_is_that_of_the_deployment() -> None:
    workers = {**OWN, "concurrency": 3, "processes": 2, "drainTimeoutSeconds": 9, "queueOrder": "Weighted"}
    rider = policy("mail", workers={"policyRef": {"name": "imports"}, "weight": 5})
    command = group(policy("imports", queueName="im", workers=workers), rider).command
    assert command is not None
    assert command.arguments == (
        *(sys.executable, "-m", "stanchion", "worker", "shop.jobs:app", "-q", "im,1", "-q", "mail,5"),
        *("-c", "3", "--processes", "2", "--drain-timeout-seconds", "9", "--queue-order", "Weighted"),
    )
    assert command.drain_timeout_seconds == 9


def test_riders_are_served_by_the_owner_and_have_no_group_of_their_own() -> None:
    rider = policy("mail", workers={"policyRef": {"name": "imports"}})
    assert group(rider, policy("imports", workers=OWN)).queues == ("imports", "mail")


def test_literal_variables_are_set_and_others_are_named() -> None:
    env = [{"name": "MODE", "value": "x"}, {"name": "TOKEN", "valueFrom": {"secretKeyRef": {}}}]
    only = group(policy("imports", workers={**OWN, "env": env}))
    assert only.command is not None
    assert only.command.variables["MODE"] == "x"
    assert only.command.variables["STANCHION_REDIS_URL"] == URL
    assert only.command.variables["STANCHION_LOG_JOBS"] == "failed"
    assert "TOKEN" in only.notices[0]


@pytest.mark.parametrize("workers", [None, {"targetRef": {"name": "sidekiq"}}], ids=["gate only", "target"])
def test_without_a_worker_of_ours_nothing_is_started_until_app_or_exec_says_so(workers: Any) -> None:
    declared = policy("mail", **({} if workers is None else {"workers": workers}))
    assert group(declared).command is None
    assert "--exec mail=" in group(declared).notices[0]
    with_app = group(declared, app="shop:app").command
    with_exec = group(declared, mail=("bundle", "exec", "sidekiq")).command
    assert with_app is not None
    assert with_exec is not None
    assert "shop:app" in with_app.arguments
    assert with_exec.arguments == ("bundle", "exec", "sidekiq")


def test_the_law_gets_the_policys_bounds() -> None:
    scaling = {"minReplicas": 0, "maxReplicas": 3}
    spec = group(policy("q", latencyTargetSeconds=9, workers=OWN, autoscaling=scaling)).scaling
    assert (spec.target_seconds, spec.slots_per_replica, spec.min_replicas, spec.max_replicas) == (
        9,
        10,
        0,
        3,
    )


@pytest.mark.parametrize(
    ("autoscaling", "replicas", "expected"),
    [
        ({}, None, None),
        ({"mode": "Manual"}, 4, 4),
        ({"mode": "Manual"}, None, 1),
        ({"mode": "External", "minReplicas": 2}, None, 2),
        ({"dryRun": True, "minReplicas": 0}, None, 1),
    ],
)
def test_who_decides_the_number(
    autoscaling: dict[str, Any], replicas: int | None, expected: int | None
) -> None:
    workers = OWN if replicas is None else {**OWN, "replicas": replicas}
    assert group(policy("q", workers=workers, autoscaling=autoscaling)).fixed_workers == expected


def test_a_command_for_an_unknown_queue_is_refused() -> None:
    with pytest.raises(CommandError, match="'other'"):
        group(policy("q", workers=OWN), other=("true",))


def test_exec_is_split_like_a_shell_would() -> None:
    assert parse_exec("mail=sh -c 'a b'") == ("mail", ("sh", "-c", "a b"))


@pytest.mark.parametrize("text", ["mail", "=run", "mail=", "mail='unclosed", "mail=no-such-program -q mail"])
def test_a_malformed_exec_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="--exec"):
        parse_exec(text)
