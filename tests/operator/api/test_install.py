"""How the operator is installed: CRDs first, one leader of several, no more rights than it says it needs."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from rig.operator_process import OperatorProcess
from rig.shop import PATIENCE_SECONDS, Shop
from testcluster.cluster import Cluster
from waiting import until

pytestmark = pytest.mark.api

WORKERS = {"image": "example/shop:1", "app": "shop.jobs:app"}
OWN_NAMESPACE_RULES = [
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "resourceNames": ["stanchion-operator"],
        "verbs": ["get", "update"],
    },
    {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]},
]
POLICIES = ["queuepolicies", "lockpolicies", "tenantbudgets"]
WATCHED_NAMESPACE_RULES = [
    {"apiGroups": ["stanchion.dev"], "resources": POLICIES, "verbs": ["get", "list", "watch", "patch"]},
    {
        "apiGroups": ["stanchion.dev"],
        "resources": [f"{plural}/status" for plural in POLICIES],
        "verbs": ["get", "patch"],
    },
    {
        "apiGroups": ["apps"],
        "resources": ["deployments"],
        "verbs": ["get", "list", "watch", "create", "patch", "delete"],
    },
    {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["get", "patch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "patch"]},
    {
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": ["stanchion-redis"],
        "verbs": ["get", "list", "watch"],
    },
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
]


@pytest.fixture
def alone(shop: Shop) -> list[str]:
    """Flags of an operator that watches the shop only, and keeps its Lease there."""
    return ["--namespace", shop.namespace, "--own-namespace", shop.namespace]


def grant(shop: Shop, user: str) -> None:
    """A Role in the shop and nothing anywhere else."""
    role: dict[str, Any] = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "operator", "namespace": shop.namespace},
        "rules": OWN_NAMESPACE_RULES + WATCHED_NAMESPACE_RULES,
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "operator", "namespace": shop.namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "operator"},
        "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
    }
    shop.cluster.apply(role, binding)


def test_a_role_in_its_namespace_is_all_it_needs(
    shop: Shop, queue: str, alone: list[str], tmp_path: Path
) -> None:
    grant(shop, "alice")
    with OperatorProcess(shop.cluster.kubeconfig_of("alice"), tmp_path / "log", *alone) as process:
        shop.policy("imports", {"queueName": queue, "workers": WORKERS, "autoscaling": {"minReplicas": 2}})
        until(lambda: shop.exists("deployment", "imports-workers"), timeout_seconds=PATIENCE_SECONDS)
        shop.wait_for("imports", "ScalingActive", ("True", "ValidMetricFound"))
        shop.policy("imports", {"queueName": queue, "workers": WORKERS, "autoscaling": {"minReplicas": 1}})
        until(lambda: shop.replicas("imports-workers") == 2, timeout_seconds=PATIENCE_SECONDS)
        shop.policy("imports", {"queueName": queue})
        until(lambda: not shop.exists("deployment", "imports-workers"), timeout_seconds=PATIENCE_SECONDS)
        assert process.get("/readyz") == "ok"
        assert "Forbidden" not in process.log
        assert "forbidden" not in process.log


def test_of_two_operators_one_leads_and_the_other_takes_over(
    shop: Shop, queue: str, alone: list[str], tmp_path: Path
) -> None:
    kubeconfig = shop.cluster.kubeconfig
    with (
        OperatorProcess(kubeconfig, tmp_path / "one", *alone) as one,
        OperatorProcess(kubeconfig, tmp_path / "two", *alone) as two,
    ):
        until(lambda: one.is_leading() or two.is_leading(), timeout_seconds=PATIENCE_SECONDS)
        until(lambda: "ok" in (one.get("/readyz"), two.get("/readyz")), timeout_seconds=PATIENCE_SECONDS)
        leader, standby = (one, two) if one.is_leading() else (two, one)
        until(lambda: standby.get("/readyz") == "ok", timeout_seconds=PATIENCE_SECONDS)
        assert not standby.is_leading()
        assert leader.stop(signal.SIGTERM) == 0
        until(standby.is_leading, timeout_seconds=5)  # released, so nobody waits for it to lapse
        shop.policy("imports", {"queueName": queue})
        shop.wait_for("imports", "Ready", ("True", "Ready"))


def test_who_loses_the_lease_stops_with_an_error(shop: Shop, alone: list[str], tmp_path: Path) -> None:
    with OperatorProcess(shop.cluster.kubeconfig, tmp_path / "log", *alone) as process:
        until(process.is_leading, timeout_seconds=PATIENCE_SECONDS)
        stolen = '{"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 3600}}'
        shop.kubectl("patch", "lease", "stanchion-operator", "--type=merge", "--patch", stolen)
        assert process.wait() == 1
        assert "is not certainly ours" in process.log


def test_without_access_it_says_what_is_missing(crds: Cluster, tmp_path: Path) -> None:
    with OperatorProcess(crds.kubeconfig_of("bob"), tmp_path / "log") as process:
        assert process.wait() == 1
        assert "namespace default cannot be read" in process.log
        assert "Traceback" not in process.log
