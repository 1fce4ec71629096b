"""The chart on a real API server: admitted, restricted, and with the rights that the operator needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testcluster.cluster import Cluster
from testcluster.waiting import wait_until

REPOSITORY = Path(__file__).resolve().parents[2]
CHART = REPOSITORY / "charts" / "stanchion"
RELEASE = "queues"

pytestmark = pytest.mark.api


@pytest.fixture(autouse=True)
def crds(control_plane: Cluster) -> None:
    """The CRDs, which every test of this run shares: no release of these tests owns them."""
    control_plane.kubectl(
        "apply", "--server-side", "--force-conflicts", "--filename", str(REPOSITORY / "crds")
    )


@pytest.fixture
def release_namespace(control_plane: Cluster) -> Iterator[str]:
    """A namespace that admits only pods of the restricted Pod Security Standard."""
    with control_plane.namespace("ops") as namespace:
        enforced = "pod-security.kubernetes.io/enforce=restricted"
        control_plane.kubectl("label", "namespace", namespace, enforced)
        yield namespace


@pytest.fixture
def served_namespace(control_plane: Cluster) -> Iterator[str]:
    with control_plane.namespace("shop") as namespace:
        yield namespace


def install(cluster: Cluster, namespace: str, values: dict[str, Any]) -> None:
    values = {"crds": {"enabled": False}, **values}
    command = ("install", RELEASE, str(CHART), "--namespace", namespace, "--values=-")
    cluster.helm(*command, input=json.dumps(values))


def can(cluster: Cluster, namespace: str, right: str, where: str) -> bool:
    """Whether the operator's account may do this, by the API server's own answer."""
    verb, what = right.split(maxsplit=1)
    account = f"--as=system:serviceaccount:{namespace}:{RELEASE}-stanchion"
    question = ("auth", "can-i", verb, *what.split(), "--namespace", where, account)
    return cluster.kubectl(*question, check=False).stdout.strip() == "yes"


def test_a_restricted_namespace_admits_the_operator(control_plane: Cluster, release_namespace: str) -> None:
    install(control_plane, release_namespace, {"replicas": 2})

    def pods() -> list[Any]:
        found: list[Any] = control_plane.get("pods", "--namespace", release_namespace)["items"]
        return found if len(found) == 2 else []

    wait_until(pods, "both pods to be admitted", timeout_seconds=30)
    control_plane.helm("uninstall", RELEASE, "--namespace", release_namespace, "--wait")
    kinds = "deployments,services,serviceaccounts,roles,rolebindings,poddisruptionbudgets"
    left = control_plane.get(kinds, "--namespace", release_namespace, "--selector=helm.sh/chart")["items"]
    assert left == []


def test_a_namespaced_install_has_rights_only_where_it_serves(
    control_plane: Cluster, release_namespace: str, served_namespace: str
) -> None:
    install(control_plane, release_namespace, {"watch": {"namespaces": [served_namespace]}})
    where_it_serves = [
        "watch queuepolicies.stanchion.dev",
        "patch queuepolicies.stanchion.dev --subresource=status",
        "create deployments.apps",
        "patch deployments.apps --subresource=scale",
        "get secrets/stanchion-redis",
        "create events.events.k8s.io",
    ]
    for right in where_it_serves:
        assert can(control_plane, release_namespace, right, served_namespace), right
        assert not can(control_plane, release_namespace, right, "default"), right
    for right in ("get secrets/other", "create pods", "create roles.rbac.authorization.k8s.io"):
        assert not can(control_plane, release_namespace, right, served_namespace), right
    lease = f"update leases.coordination.k8s.io/{RELEASE}-stanchion"
    assert can(control_plane, release_namespace, lease, release_namespace)
    assert not can(control_plane, release_namespace, lease, served_namespace)


def test_people_get_the_policies_with_the_built_in_roles(
    control_plane: Cluster, release_namespace: str, served_namespace: str
) -> None:
    install(control_plane, release_namespace, {})
    control_plane.kubectl(
        "create",
        "rolebinding",
        "alice",
        "--clusterrole=view",
        "--user=alice",
        "--namespace",
        served_namespace,
    )

    def alice_can(verb: str) -> bool:
        question = ("auth", "can-i", verb, "queuepolicies.stanchion.dev", "--namespace", served_namespace)
        return control_plane.kubectl(*question, user="alice", check=False).stdout.strip() == "yes"

    wait_until(lambda: alice_can("list"), "the aggregation into view", timeout_seconds=10)
    assert not alice_can("create")
    control_plane.helm("uninstall", RELEASE, "--namespace", release_namespace)


def test_crds_are_upgraded_and_outlive_the_release(control_plane: Cluster, release_namespace: str) -> None:
    # Another test of this run may have applied the CRDs by hand: they are taken over.
    upgrade = ("upgrade", "--install", RELEASE, str(CHART), "--namespace", release_namespace)
    for _ in ("install", "upgrade"):
        control_plane.helm(*upgrade, "--take-ownership", "--force-conflicts")
    control_plane.helm("uninstall", RELEASE, "--namespace", release_namespace)
    for kind in ("queuepolicies", "lockpolicies", "tenantbudgets"):
        established = ("--for=condition=Established", f"crd/{kind}.stanchion.dev", "--timeout=10s")
        control_plane.kubectl("wait", *established)
