"""What the definitions store by default is what the code takes where nothing is stored."""

from __future__ import annotations

import copy

from stanchion.manifest import prune
from stanchion.manifest.crds import custom_resources
from stanchion.manifest.document import Json
from stanchion.policy.autoscaling import Autoscaling
from stanchion.policy.queue_policy import QueuePolicy
from stanchion.scaling.behavior import Behavior

HEAD = {"apiVersion": "stanchion.dev/v1alpha1", "kind": "QueuePolicy"}
METADATA = {"name": "mail", "namespace": "default"}
IMAGE = {"image": "i", "app": "a:b"}


def stored(spec: Json) -> Json:
    body = {**HEAD, "metadata": METADATA, "spec": copy.deepcopy(spec)}
    prune.fill_defaults(body, custom_resources()["QueuePolicy"].schema)
    return body


def test_a_policy_reads_the_same_with_and_without_its_defaults_spelled_out() -> None:
    for spec in (
        {},
        {"workers": IMAGE},
        {"workers": IMAGE, "autoscaling": {"fallback": {"replicas": 2}}},
    ):
        bare = {**HEAD, "metadata": METADATA, "spec": spec}
        assert QueuePolicy.from_manifest(stored(spec)) == QueuePolicy.from_manifest(bare)


def test_an_empty_autoscaling_is_an_absent_one() -> None:
    policy = QueuePolicy.from_manifest(stored({"workers": IMAGE, "autoscaling": {}}))

    assert policy.autoscaling == Autoscaling()


def test_an_empty_behavior_is_the_measured_one() -> None:
    spec = stored({"workers": IMAGE, "autoscaling": {"behavior": {"scaleUp": {}, "scaleDown": {}}}})["spec"]

    assert Behavior.from_spec(spec["autoscaling"]["behavior"]) == Behavior()
