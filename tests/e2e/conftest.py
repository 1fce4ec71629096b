"""What a user sets up before the first queue: the operator by Helm, a namespace, a Redis and its Secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.burst import APP, HERE, POLICY, Burst, tell
from testcluster.cluster import NodeCluster
from testcluster.redis_server import ReachableRedis

CHART = Path(__file__).resolve().parents[2] / "charts" / "stanchion"
CRDS = ("queuepolicies", "lockpolicies", "tenantbudgets")
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


def make_namespace(cluster: NodeCluster, name: str) -> None:
    """A namespace that admits only pods of the restricted Pod Security Standard."""
    metadata = {"name": name, "labels": RESTRICTED}
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})


@pytest.fixture(scope="module")
def redis_in_cluster(node_cluster: NodeCluster) -> Iterator[ReachableRedis]:
    with node_cluster.redis() as server:
        yield server


@pytest.fixture(scope="module")
def operator(node_cluster: NodeCluster) -> Iterator[str]:
    """The chart, installed and ready; gives the namespace it is in."""
    repository, tag = node_cluster.load_image("operator").rsplit(":", 1)
    namespace = "stanchion-system"
    make_namespace(node_cluster, namespace)
    values = {
        "image": {"repository": repository, "tag": tag, "pullPolicy": "Never"},
        "operator": {"tickSeconds": 2},
    }
    release = ("stanchion", str(CHART), "--namespace", namespace)
    node_cluster.helm(
        "install",
        *release,
        "--values=-",
        "--wait",
        "--timeout=120s",
        input=json.dumps(values),
        timeout_seconds=150,
    )
    yield namespace
    node_cluster.helm("uninstall", "stanchion", "--namespace", namespace, "--wait")
    node_cluster.kubectl("delete", "crd", *(f"{kind}.stanchion.dev" for kind in CRDS))
    node_cluster.kubectl("delete", "namespace", namespace, "--wait=false")


@pytest.fixture(scope="module")
def shop(node_cluster: NodeCluster, operator: str, redis_in_cluster: ReachableRedis) -> Iterator[str]:
    """A namespace with the Secret, the image of the jobs and the policy applied and ready."""
    node_cluster.build_image(APP, "localhost/ledger:test")
    namespace = "shop"
    make_namespace(node_cluster, namespace)
    url = redis_in_cluster.url_for_pods
    node_cluster.kubectl(
        "create",
        "secret",
        "generic",
        "stanchion-redis",
        f"--from-literal=url={url}",
        "--namespace",
        namespace,
    )
    node_cluster.kubectl("apply", "--namespace", namespace, "--filename", str(HERE / "policy.yaml"))
    for state in ("condition=Ready", "jsonpath={.status.desiredReplicas}=0"):
        awaited = (f"--for={state}", f"queuepolicy/{POLICY}", "--timeout=60s")
        node_cluster.kubectl("wait", "--namespace", namespace, *awaited, timeout_seconds=70)
    yield namespace
    node_cluster.kubectl("delete", "namespace", namespace, "--wait=false")


@pytest.fixture(scope="module")
def burst(
    node_cluster: NodeCluster,
    shop: str,
    redis_in_cluster: ReachableRedis,
    tmp_path_factory: pytest.TempPathFactory,
) -> Burst:
    """Six thousand jobs met a queue without workers, and all is quiet again."""
    return tell(node_cluster, redis_in_cluster, shop, tmp_path_factory.mktemp("burst"))
