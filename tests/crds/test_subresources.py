"""What kubectl and an HPA meet beside the spec: scale, status, columns, short names and the manual page."""

from __future__ import annotations

import json

import pytest

from crds.api_server import API_VERSION, Answer, ApiServer, collection
from stanchion.manifest.crds import custom_resources, folder
from stanchion.manifest.document import Json
from testcluster.cluster import Cluster

pytestmark = pytest.mark.api

WORKERS = {"image": "registry.example/shop:1", "app": "shop.jobs:app"}
STATUS: Json = {
    "observedGeneration": 1,
    "queue": "imports",
    "redis": {"server": "redis:6379/4c1f"},
    "replicas": 4,
    "readyReplicas": 3,
    "desiredReplicas": 4,
    "minReplicas": 1,
    "maxReplicas": 10,
    "selector": "stanchion.dev/policy=imports",
    "latencyTargetSeconds": 10,
    "oldestAgeSeconds": 7,
    "latency": "7s/10s",
    "waiting": 1234,
    "busy": 40,
    "sampledAt": "2026-01-01T00:00:00Z",
    "demand": {
        "arrivalRatePerSecond": "95.2",
        "shortArrivalRatePerSecond": "101",
        "serviceMilliseconds": 52,
        "backlog": 1234,
        "oldestAgeSeconds": 7,
        "dueRatePerSecond": "0",
        "longBusySlots": 0,
        "slots": 41,
        "slotsPerReplica": 10,
        "winningTerm": "tail",
        "replicas": 5,
    },
    "lastScaleTime": "2026-01-01T00:00:00Z",
    "lastScaleReason": "backlog",
    "scaleEvents": [{"time": "2026-01-01T00:00:00Z", "from": 2, "to": 4}],
    "matched": {"queues": 1, "jobs": 0, "recentPushes": 0},
    "conditions": [
        {
            "type": "Ready",
            "status": "True",
            "observedGeneration": 1,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "reason": "AsDeclared",
            "message": "",
        }
    ],
}


def create(
    server: ApiServer, namespace: str, spec: Json, name: str = "imports", kind: str = "QueuePolicy"
) -> Json:
    body = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
    answer = server.send("POST", f"{collection(kind, namespace)}?fieldValidation=Strict", json.dumps(body))
    assert answer.accepted, answer.body
    return answer.body


def write_status(server: ApiServer, namespace: str, status: Json) -> Answer:
    """A server-side apply of the whole status, as the operator writes it."""
    body = {
        "apiVersion": API_VERSION,
        "kind": "QueuePolicy",
        "metadata": {"name": "imports"},
        "status": status,
    }
    path = f"{collection('QueuePolicy', namespace)}/imports/status?fieldManager=test&force=true"
    return server.send("PATCH", path, json.dumps(body), content="application/apply-patch+yaml")


def test_replicas_are_scaled_by_hand_in_manual_mode_only(
    control_plane: Cluster, server: ApiServer, namespace: str
) -> None:
    create(server, namespace, {"workers": WORKERS, "autoscaling": {"mode": "Manual"}}, "manual")
    create(server, namespace, {"workers": WORKERS}, "latency")
    create(server, namespace, {}, "gate")

    control_plane.kubectl("scale", "qp/manual", "--replicas=5", f"--namespace={namespace}")
    refused = [
        control_plane.kubectl("scale", f"qp/{name}", "--replicas=5", f"--namespace={namespace}", check=False)
        for name in ("latency", "gate")
    ]

    assert control_plane.get("qp", "manual", f"--namespace={namespace}")["spec"]["workers"]["replicas"] == 5
    assert "replicas is set by hand only under autoscaling.mode Manual" in refused[0].stderr
    assert "exactly one of image, targetRef and policyRef is needed" in refused[1].stderr


def test_an_hpa_reads_replicas_and_selector_from_status(server: ApiServer, namespace: str) -> None:
    create(server, namespace, {"workers": {**WORKERS, "replicas": 2}, "autoscaling": {"mode": "Manual"}})
    assert write_status(server, namespace, STATUS).accepted

    scale = server.send("GET", f"{collection('QueuePolicy', namespace)}/imports/scale").body

    assert (scale["spec"], scale["status"]) == (
        {"replicas": 2},
        {"replicas": 4, "selector": "stanchion.dev/policy=imports"},
    )


def test_the_status_schema_has_every_field_that_the_operator_writes(
    server: ApiServer, namespace: str
) -> None:
    created = create(server, namespace, {})

    stored = write_status(server, namespace, STATUS).body

    assert stored["status"] == STATUS
    declared = custom_resources()["QueuePolicy"].schema["properties"]["status"]["properties"]
    assert STATUS.keys() == declared.keys()
    assert STATUS["demand"].keys() == declared["demand"]["properties"].keys()
    assert stored["metadata"]["generation"] == created["metadata"]["generation"]


def test_an_unknown_status_field_is_an_error_and_not_lost(server: ApiServer, namespace: str) -> None:
    create(server, namespace, {})

    assert not write_status(server, namespace, {**STATUS, "phase": "Fine"}).accepted


def test_the_list_reads_like_that_of_an_hpa(
    control_plane: Cluster, server: ApiServer, namespace: str
) -> None:
    create(server, namespace, {})
    write_status(server, namespace, STATUS)

    head, row = control_plane.kubectl("get", "qp", f"--namespace={namespace}").stdout.splitlines()

    names = "NAME QUEUE LATENCY WAITING MIN MAX WORKERS RUNNING READY AGE"
    assert head.split() == names.split()
    assert row.split()[:-1] == ["imports", "imports", "7s/10s", "1234", "1", "10", "4", "3", "True"]


def test_one_category_lists_all_three_kinds(
    control_plane: Cluster, server: ApiServer, namespace: str
) -> None:
    create(server, namespace, {})
    create(server, namespace, {"match": {}, "lock": "UntilExecuted"}, kind="LockPolicy")
    create(server, namespace, {"match": {}, "default": {}}, kind="TenantBudget")

    listed = control_plane.get("stanchion", f"--namespace={namespace}")["items"]

    assert {item["kind"] for item in listed} == {"QueuePolicy", "LockPolicy", "TenantBudget"}
    for short in ("qp", "lp", "tb"):
        assert len(control_plane.get(short, f"--namespace={namespace}")["items"]) == 1


def test_kubectl_explain_is_the_manual_page(control_plane: Cluster, server: ApiServer) -> None:
    page = control_plane.kubectl("explain", "qp.spec.latencyTargetSeconds").stdout

    assert "The oldest eligible job starts within this many" in page


def test_the_server_takes_the_samples(control_plane: Cluster, server: ApiServer, namespace: str) -> None:
    samples = str(folder() / "samples")

    control_plane.kubectl("apply", f"--filename={samples}", "--dry-run=server", f"--namespace={namespace}")
