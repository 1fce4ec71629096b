"""The control plane is a real one: what the operator's tests rely on is there."""

import json
import ssl
import urllib.request

import pytest

from testcluster.cluster import Cluster
from testcluster.errors import ClusterError
from testcluster.waiting import wait_until

pytestmark = pytest.mark.api

WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.test.stanchion.dev"},
    "spec": {
        "group": "test.stanchion.dev",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"size": {"type": "integer"}},
                                "x-kubernetes-validations": [
                                    {"rule": "self.size < 10", "message": "must fit the box"}
                                ],
                            }
                        },
                    }
                },
            }
        ],
    },
}


def widget(name: str, size: int) -> dict[str, object]:
    spec = {"size": size}
    return {
        "apiVersion": "test.stanchion.dev/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": spec,
    }


def config_map(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def test_it_carries_the_version_that_was_built(control_plane: Cluster) -> None:
    version = control_plane.kubectl("get", "--raw=/version").stdout
    assert '"gitVersion": "v1.36' in version


def test_strict_clients_accept_its_certificate(control_plane: Cluster) -> None:
    config = json.loads(control_plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    trusted = ssl.create_default_context(cafile=config["certificate-authority"])
    trusted.verify_flags |= ssl.VERIFY_X509_STRICT  # the default from Python 3.13 on
    with urllib.request.urlopen(f"{config['server']}/readyz", context=trusted, timeout=10) as answer:
        assert answer.read() == b"ok"


def test_custom_resources_are_validated_by_cel(control_plane: Cluster) -> None:
    control_plane.apply(WIDGETS)
    control_plane.kubectl("wait", "--for=condition=Established", "crd/widgets.test.stanchion.dev")
    with control_plane.namespace() as namespace:
        arguments = ("--namespace", namespace, "--filename=-")
        control_plane.kubectl("create", *arguments, input=json.dumps(widget("small", 3)))
        with pytest.raises(ClusterError, match="must fit the box"):
            control_plane.kubectl("create", *arguments, input=json.dumps(widget("big", 12)))
        found = control_plane.get("widgets", "--namespace", namespace)
    assert [item["metadata"]["name"] for item in found["items"]] == ["small"]


def test_what_is_owned_goes_with_its_owner(control_plane: Cluster) -> None:
    with control_plane.namespace() as namespace:
        at = ("--namespace", namespace)
        control_plane.kubectl("create", "--filename=-", *at, input=json.dumps(config_map("owner")))
        owner = control_plane.get("configmap", "owner", *at)
        reference = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "owner",
            "uid": owner["metadata"]["uid"],
        }
        owned = {**config_map("owned"), "metadata": {"name": "owned", "ownerReferences": [reference]}}
        control_plane.kubectl("create", "--filename=-", *at, input=json.dumps(owned))
        control_plane.kubectl("delete", "configmap", "owner", *at)
        control_plane.kubectl("wait", "--for=delete", "configmap/owned", "--timeout=30s", *at)


def test_deployments_become_pods(control_plane: Cluster) -> None:
    with control_plane.namespace() as namespace:
        at = ("--namespace", namespace)
        control_plane.kubectl("create", "deployment", "web", "--image=none", "--replicas=3", *at)
        wait_until(lambda: len(control_plane.get("pods", *at)["items"]) == 3, "three pods", 30)


def test_a_user_without_rights_gets_them_from_a_role(control_plane: Cluster) -> None:
    with control_plane.namespace() as namespace:
        at = ("--namespace", namespace)
        with pytest.raises(ClusterError, match="alice"):
            control_plane.get("secrets", *at, user="alice")
        control_plane.kubectl("create", "role", "reader", "--verb=list", "--resource=secrets", *at)
        control_plane.kubectl("create", "rolebinding", "alice", "--role=reader", "--user=alice", *at)
        wait_until(
            lambda: control_plane.kubectl("get", "secrets", *at, user="alice", check=False).returncode == 0,
            "the role to take effect",
            10,
        )


def test_helm_reaches_it(control_plane: Cluster) -> None:
    assert control_plane.helm("list", "--all-namespaces", "--output=json").stdout.strip() == "[]"
