"""The node is a real one: restricted pods run, are probed, found by name and balanced."""

import sys
from pathlib import Path
from typing import Any

import pytest
import redis

from testcluster.cluster import NodeCluster
from testcluster.waiting import wait_until

pytestmark = pytest.mark.node

RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "runAsUser": 10001,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""What the `restricted` Pod Security Standard asks for, and a little more."""


def container(image: str, *command: str, **more: Any) -> dict[str, Any]:
    return {
        "name": "main",
        "image": image,
        "imagePullPolicy": "Never",
        "command": list(command),
        "securityContext": RESTRICTED,
        **more,
    }


def web(image: str) -> list[dict[str, Any]]:
    """Two web servers with a probe, and a Service in front of them."""
    probe = {"httpGet": {"path": "/", "port": 8000}, "periodSeconds": 1}
    serve = container(image, "python3", "-m", "http.server", "8000", "-d", "/usr", readinessProbe=probe)
    pod = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [serve]}}
    selector = {"matchLabels": {"app": "web"}}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"replicas": 2, "selector": selector, "template": pod},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8000}]},
        },
    ]


def run_once(cluster: NodeCluster, namespace: str, spec: dict[str, Any]) -> str:
    """Run one pod to its end and return what it printed."""
    at = ("--namespace", namespace)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "once", "namespace": namespace}}
    cluster.apply({**pod, "spec": {"restartPolicy": "Never", "containers": [spec]}})

    def phase() -> str | None:
        found: str = cluster.get("pod", "once", *at)["status"].get("phase", "")
        return found if found in ("Succeeded", "Failed") else None

    ended = wait_until(phase, "the pod to end", 60)
    printed = cluster.kubectl("logs", "once", *at).stdout
    assert ended == "Succeeded", printed
    return printed.strip()


def restricted(cluster: NodeCluster, namespace: str) -> None:
    label = "pod-security.kubernetes.io/enforce=restricted"
    cluster.kubectl("label", "namespace", namespace, label)


def test_restricted_pods_are_probed_and_found_through_dns_and_a_service(node_cluster: NodeCluster) -> None:
    with node_cluster.namespace() as namespace:
        restricted(node_cluster, namespace)
        for manifest in web(node_cluster.python_image):
            manifest["metadata"]["namespace"] = namespace
            node_cluster.apply(manifest)
        at = ("--namespace", namespace)
        node_cluster.kubectl("rollout", "status", "deployment/web", "--timeout=60s", *at)
        # From a pod, through the cluster's DNS, the Service's address and one of the two pods.
        ask = "import urllib.request as u; print(u.urlopen('http://web/', timeout=10).status)"
        client = container(node_cluster.python_image, "python3", "-c", ask)
        assert run_once(node_cluster, namespace, client) == "200"


def test_pods_and_the_test_reach_the_same_redis(node_cluster: NodeCluster) -> None:
    with node_cluster.namespace() as namespace, node_cluster.redis() as server:
        with redis.Redis.from_url(server.url_for_tests) as client:
            client.set("greeting", "hello")
        host, port = server.url_for_pods.removeprefix("redis://").removesuffix("/0").split(":")
        ask = (
            f"import socket; s = socket.create_connection(('{host}', {port}), 10); "
            "s.sendall(b'GET greeting\\r\\n'); print(s.recv(99).decode().split()[1])"
        )
        client_pod = container(node_cluster.python_image, "python3", "-c", ask)
        assert run_once(node_cluster, namespace, client_pod) == "hello"


def test_a_program_of_this_machine_can_run_in_the_network(node_cluster: NodeCluster) -> None:
    program = "import socket; socket.create_connection(('10.96.0.1', 443), 10); print('reached')"
    assert node_cluster.run_in_network([sys.executable, "-c", program]).stdout.strip() == "reached"


@pytest.mark.parametrize("name", ["engine", "operator"])
def test_our_images_run_restricted(node_cluster: NodeCluster, name: str) -> None:
    image = node_cluster.load_image(name)
    with node_cluster.namespace() as namespace:
        restricted(node_cluster, namespace)
        spec = container(image, args=["--version"])
        del spec["command"]  # the image's own, and its own user
        spec["securityContext"] = {k: v for k, v in RESTRICTED.items() if k != "runAsUser"}
        assert "0.1" in run_once(node_cluster, namespace, spec)


def test_jobs_go_on_top_of_the_engine_image(node_cluster: NodeCluster, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM localhost/stanchion-engine:test\nCOPY shop.py /app/\n")
    (tmp_path / "shop.py").write_text("print('open for', __import__('stanchion').__name__)\n")
    tag = node_cluster.build_image(tmp_path, "localhost/shop:test")
    with node_cluster.namespace() as namespace:
        spec = container(tag, "python3", "-m", "shop")
        assert run_once(node_cluster, namespace, spec) == "open for stanchion"
