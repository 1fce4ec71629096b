"""What the chart renders for each value, by real Helm."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from stanchion_operator import cli
from stanchion_operator.settings import OperatorSettings
from testcluster import clients

Object = dict[str, Any]
Render = Callable[..., list[Object]]

REPOSITORY = Path(__file__).resolve().parents[2]
CHART = REPOSITORY / "charts" / "stanchion"
CLUSTER_SCOPED = {"CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding"}

pytestmark = pytest.mark.helm


def of_kind(objects: list[Object], kind: str) -> list[Object]:
    return [document for document in objects if document["kind"] == kind]


def operator(objects: list[Object]) -> Object:
    [deployment] = of_kind(objects, "Deployment")
    container: Object = deployment["spec"]["template"]["spec"]["containers"][0]
    return container


def operator_flags(objects: list[Object]) -> dict[str, Any]:
    """The operator's arguments as its own parser reads them, after the kubelet's substitution."""
    command, *arguments = operator(objects)["args"]
    assert command == "run"
    parser = argparse.ArgumentParser(allow_abbrev=False)
    cli.add_arguments(parser)
    pod = {"$(POD_NAMESPACE)": "ops", "$(POD_NAME)": "operator-0"}
    for reference, value in pod.items():
        arguments = [argument.replace(reference, value) for argument in arguments]
    return vars(parser.parse_args(arguments))


def test_lint_is_clean() -> None:
    done = subprocess.run(
        [clients.helm(), "lint", "--strict", CHART], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_chart_carries_the_crds_of_the_repository() -> None:
    script = REPOSITORY / "scripts" / "sync_crds.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `python scripts/sync_crds.py`\n{done.stdout}"


def test_a_crd_is_rendered_as_it_stands_in_the_repository(render: Render) -> None:
    rendered = {crd["metadata"]["name"]: crd for crd in of_kind(render(), "CustomResourceDefinition")}
    sources = [yaml.safe_load(path.read_text()) for path in (REPOSITORY / "crds").glob("*.yaml")]
    assert len(sources) == 3
    for source in sources:
        assert rendered[source["metadata"]["name"]]["spec"] == source["spec"]


def test_crds_outlive_the_release_unless_asked(render: Render) -> None:
    for keep, expected in ((True, {"helm.sh/resource-policy": "keep"}), (False, {})):
        for crd in of_kind(render({"crds": {"keep": keep}}), "CustomResourceDefinition"):
            assert crd["metadata"].get("annotations", {}) == expected
    assert of_kind(render({"crds": {"enabled": False}}), "CustomResourceDefinition") == []


def test_every_namespace_is_served_by_one_cluster_role(render: Render) -> None:
    objects = render()
    [binding] = of_kind(objects, "ClusterRoleBinding")
    assert binding["roleRef"]["name"] == "ops-demo-stanchion"
    [account] = of_kind(objects, "ServiceAccount")
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": account["metadata"]["name"], "namespace": "ops"}
    ]
    assert not [argument for argument in operator(objects)["args"] if "--namespace" in argument]


def test_a_namespaced_install_makes_nothing_cluster_scoped_but_the_crds(render: Render) -> None:
    objects = render({"watch": {"namespaces": ["shop", "mail"]}})
    scoped = {document["kind"] for document in objects} & CLUSTER_SCOPED
    assert scoped == {"CustomResourceDefinition"}
    assert (
        not {
            document["kind"]
            for document in render({"watch": {"namespaces": ["shop"]}, "crds": {"enabled": False}})
        }
        & CLUSTER_SCOPED
    )


def test_each_served_namespace_gets_the_cluster_roles_rules(render: Render) -> None:
    [everywhere] = [
        role for role in of_kind(render(), "ClusterRole") if role["metadata"]["name"] == "ops-demo-stanchion"
    ]
    objects = render({"watch": {"namespaces": ["shop", "mail"]}})
    roles = {role["metadata"]["namespace"]: role for role in of_kind(objects, "Role")}
    assert roles.keys() == {"shop", "mail", "ops"}
    assert roles["shop"]["rules"] == roles["mail"]["rules"] == everywhere["rules"]
    bound = {
        (binding["metadata"]["namespace"], binding["roleRef"]["name"])
        for binding in of_kind(objects, "RoleBinding")
    }
    assert bound == {(role["metadata"]["namespace"], role["metadata"]["name"]) for role in roles.values()}


def test_rights_are_least_privilege(render: Render) -> None:
    rules = [
        rule
        for kind in ("Role", "ClusterRole")
        for role in of_kind(render({"redis": {"secretNames": ["billing-redis"]}}), kind)
        for rule in role["rules"]
    ]
    for rule in rules:
        assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
    [secrets] = [rule for rule in rules if "secrets" in rule["resources"]]
    assert secrets["resourceNames"] == ["stanchion-redis", "billing-redis"]
    assert set(secrets["verbs"]) <= {"get", "list", "watch"}


def test_every_flag_of_the_operator_comes_from_a_value(render: Render) -> None:
    values = {
        "watch": {"namespaces": ["shop", "mail"]},
        "redis": {"secretName": "queue-redis", "secretNames": ["billing-redis"]},
        "operator": {
            "resyncSeconds": 60,
            "tickSeconds": 10,
            "concurrency": 4,
            "allowPrivilegedTemplates": True,
            "logLevel": "debug",
            "logFormat": "json",
        },
    }
    flags = operator_flags(render(values, release="queues", namespace="ops"))
    assert [name for name, value in flags.items() if value is None] == []
    assert OperatorSettings.gather(flags, {}) == OperatorSettings(
        namespaces=("shop", "mail"),
        own_namespace="ops",
        release_name="queues",
        identity="operator-0",
        lease_name="queues-stanchion",
        redis_secret_name="queue-redis",
        allowed_secret_names=("billing-redis",),
        resync_seconds=60,
        tick_seconds=10,
        concurrency=4,
        allow_privileged_templates=True,
        log_level="debug",
        log_format="json",
    )


def test_operator_fits_the_restricted_pod_security_standard(render: Render) -> None:
    [deployment] = of_kind(render(), "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    [container] = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"]


def test_two_releases_of_one_name_share_no_cluster_scoped_name(render: Render) -> None:
    names = [
        {
            document["metadata"]["name"]
            for document in render({"crds": {"enabled": False}}, namespace=namespace)
            if document["kind"] in CLUSTER_SCOPED
        }
        for namespace in ("ops", "staging")
    ]
    assert names[0]
    assert not names[0] & names[1]


def test_selectors_hold_only_what_never_changes(render: Render) -> None:
    objects = render({"podLabels": {"team": "shop"}, "replicas": 2})
    [deployment] = of_kind(objects, "Deployment")
    selector = deployment["spec"]["selector"]["matchLabels"]
    assert set(selector) == {
        "app.kubernetes.io/name",
        "app.kubernetes.io/instance",
        "app.kubernetes.io/component",
    }
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert selector.items() <= labels.items()
    assert labels["team"] == "shop"
    [service] = of_kind(objects, "Service")
    assert service["spec"]["selector"] == selector
    [budget] = of_kind(objects, "PodDisruptionBudget")
    assert budget["spec"]["selector"]["matchLabels"] == selector


def test_one_replica_has_no_disruption_budget(render: Render) -> None:
    assert of_kind(render(), "PodDisruptionBudget") == []


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"replicaCount": 2}, "replicaCount"),
        ({"watch": {"namespace": "shop"}}, "namespace"),
        ({"watch": {"namespaces": ["Shop_1"]}}, "/watch/namespaces/0"),
        ({"operator": {"tickSeconds": 0}}, "/operator/tickSeconds"),
        ({"operator": {"logLevel": "loud"}}, "/operator/logLevel"),
        ({"image": {"pullPolicy": "Sometimes"}}, "/image/pullPolicy"),
        ({"redis": {"secretName": ""}}, "/redis/secretName"),
        ({"crds": {"keep": "yes"}}, "/crds/keep"),
    ],
)
def test_a_wrong_value_is_refused_by_name(
    refusal: Callable[[Mapping[str, Any]], str], values: Mapping[str, Any], where: str
) -> None:
    assert where in refusal(values).replace(".", "/")


def test_the_values_file_and_its_schema_name_the_same_keys() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())
    assert values.keys() == schema["properties"].keys() - {"global"}
    for name, nested in values.items():
        if properties := schema["properties"][name].get("properties"):
            assert nested.keys() == properties.keys(), name
