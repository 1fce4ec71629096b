"""Deployments: made without a stray pod, kept, found, and never taken from a stranger."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rig.shop import Shop
from waiting import until

pytestmark = [pytest.mark.api, pytest.mark.usefixtures("operator")]

WORKERS = {"image": "example/shop:1", "app": "shop.jobs:app"}


def workers_policy(queue: str, **scaling: Any) -> dict[str, Any]:
    return {"queueName": queue, "workers": WORKERS, "autoscaling": {"minReplicas": 0, **scaling}}


def deployment(name: str, replicas: int = 2) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "sidekiq", "image": "example/sidekiq:1"}]},
            },
        },
    }


def apply_deployment(shop: Shop, name: str, replicas: int = 2) -> None:
    manifest = deployment(name, replicas)
    manifest["metadata"]["namespace"] = shop.namespace
    shop.cluster.apply(manifest)


def test_a_deployment_starts_at_zero_without_ever_making_a_pod(shop: Shop, queue: str) -> None:
    shop.policy("imports", workers_policy(queue))
    shop.wait_for("imports", "WorkersAvailable", ("True", "ScaledToZero"))
    made = shop.get("deployment", "imports-workers")
    assert made["spec"]["replicas"] == 0
    assert not made["spec"].get("paused")
    replica_sets = shop.get("replicasets", "--selector", "stanchion.dev/policy=imports")["items"]
    assert sum(each["metadata"]["generation"] for each in replica_sets) <= 2
    assert "Created pod" not in shop.kubectl("get", "events")


def test_the_pod_runs_our_worker_under_the_restricted_standard(shop: Shop, queue: str) -> None:
    shop.kubectl("label", "namespace", shop.namespace, "pod-security.kubernetes.io/enforce=restricted")
    shop.policy("imports", workers_policy(queue, minReplicas=1))
    until(lambda: shop.exists("pods", "--selector", "stanchion.dev/policy=imports"), timeout_seconds=30)
    pod = shop.get("pods", "--selector", "stanchion.dev/policy=imports")["items"][0]
    [container] = pod["spec"]["containers"]
    assert container["command"] == ["stanchion"]
    assert container["args"][:4] == ["worker", "shop.jobs:app", "-q", queue]
    assert pod["spec"]["terminationGracePeriodSeconds"] == 35
    [url] = container["env"]
    assert url["valueFrom"]["secretKeyRef"] == {"name": "stanchion-redis", "key": "url"}


def test_a_strangers_deployment_of_that_name_is_not_touched(shop: Shop, queue: str) -> None:
    apply_deployment(shop, "imports-workers")
    shop.policy("imports", workers_policy(queue))
    shop.wait_for("imports", "Conflict", ("True", "NameTaken"))
    theirs = shop.get("deployment", "imports-workers")
    assert theirs["spec"]["template"]["spec"]["containers"][0]["image"] == "example/sidekiq:1"
    assert theirs["spec"]["replicas"] == 2
    assert shop.redis.exists(f"stanchion:config:queue:{queue}")


def test_an_edited_deployment_is_put_right(shop: Shop, queue: str) -> None:
    shop.policy("imports", workers_policy(queue))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.kubectl("set", "image", "deployment/imports-workers", "worker=example/other:1")
    until(lambda: _image(shop) == "example/shop:1", timeout_seconds=30)


def test_a_deleted_deployment_is_made_again(shop: Shop, queue: str) -> None:
    shop.policy("imports", workers_policy(queue, minReplicas=1))
    until(lambda: shop.exists("deployment", "imports-workers"), timeout_seconds=30)
    uid = shop.get("deployment", "imports-workers")["metadata"]["uid"]
    shop.kubectl("delete", "deployment", "imports-workers")
    until(
        lambda: (
            shop.exists("deployment", "imports-workers")
            and shop.get("deployment", "imports-workers")["metadata"]["uid"] != uid
            and not shop.get("deployment", "imports-workers")["spec"].get("paused")
        ),
        timeout_seconds=30,
    )


def test_deleting_the_policy_deletes_the_deployment(shop: Shop, queue: str) -> None:
    shop.policy("imports", workers_policy(queue))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.kubectl("delete", "queuepolicy", "imports")
    until(lambda: not shop.exists("deployment", "imports-workers"), timeout_seconds=30)


def test_a_rotated_url_rolls_the_workers_once(shop: Shop, queue: str) -> None:
    shop.policy("imports", workers_policy(queue))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    before = _secret_digest(shop)
    data = json.dumps({"stringData": {"url": f"{shop.url.removesuffix('/0')}?db=0"}})
    shop.kubectl("patch", "secret", "stanchion-redis", "--type=merge", "--patch", data)
    until(lambda: _secret_digest(shop) != before, timeout_seconds=30)
    generation = shop.get("deployment", "imports-workers")["metadata"]["generation"]
    shop.policy("other", {"queueName": f"{queue}-other"})
    shop.wait_for("other", "Ready", ("True", "Ready"))
    assert shop.get("deployment", "imports-workers")["metadata"]["generation"] == generation


def test_a_template_may_not_ask_for_more_than_its_author_could(shop: Shop, queue: str) -> None:
    spec = workers_policy(queue)
    spec["workers"] = WORKERS | {"template": {"spec": {"priorityClassName": "high", "nodeName": "n"}}}
    shop.policy("imports", spec)
    shop.wait_for("imports", "Ready", ("False", "TemplateRefused"))
    assert not shop.exists("deployment", "imports-workers")


def test_a_target_of_the_users_own_is_found_and_scaled_but_not_rendered(shop: Shop, queue: str) -> None:
    apply_deployment(shop, "sidekiq", replicas=1)
    target = {"targetRef": {"kind": "Deployment", "name": "sidekiq"}}
    shop.policy("imports", {"queueName": queue, "workers": target, "autoscaling": {"minReplicas": 3}})
    until(lambda: shop.replicas("sidekiq") == 3, timeout_seconds=30)
    until(lambda: shop.get("queuepolicy", "imports")["status"].get("selector") == "app=sidekiq")
    image = shop.get("deployment", "sidekiq")["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image == "example/sidekiq:1"


def test_a_missing_target_is_named(shop: Shop, queue: str) -> None:
    target = {"targetRef": {"kind": "Deployment", "name": "sidekiq"}}
    shop.policy("imports", {"queueName": queue, "workers": target})
    shop.wait_for("imports", "Ready", ("False", "TargetMissing"))
    apply_deployment(shop, "sidekiq")
    shop.wait_for("imports", "WorkersAvailable", ("False", "NoReadyWorkers"))


def test_a_queue_rides_on_another_policys_workers(shop: Shop, queue: str) -> None:
    shop.policy("main", workers_policy(queue))
    shop.policy(
        "side", {"queueName": f"{queue}-side", "workers": {"policyRef": {"name": "main"}, "weight": 5}}
    )
    until(lambda: f"{queue}-side,5" in _args(shop, "main-workers"), timeout_seconds=30)
    shop.wait_for("side", "Ready", ("True", "Ready"))
    shop.kubectl("delete", "queuepolicy", "side")
    until(lambda: f"{queue}-side,5" not in _args(shop, "main-workers"), timeout_seconds=30)


def test_riding_on_nobody_is_named(shop: Shop, queue: str) -> None:
    shop.policy("side", {"queueName": queue, "workers": {"policyRef": {"name": "main"}}})
    shop.wait_for("side", "Ready", ("False", "OwnerMissing"))


def test_a_policy_that_gives_up_its_workers_loses_the_deployment(shop: Shop, queue: str) -> None:
    shop.policy("imports", workers_policy(queue))
    shop.wait_for("imports", "Ready", ("True", "Ready"))
    shop.policy("imports", {"queueName": queue})
    until(lambda: not shop.exists("deployment", "imports-workers"), timeout_seconds=30)


def test_external_mode_leaves_the_number_alone(shop: Shop, queue: str) -> None:
    shop.policy("imports", workers_policy(queue, mode="External"))
    until(lambda: shop.exists("deployment", "imports-workers"), timeout_seconds=30)
    shop.wait_for("imports", "ScalingActive", ("False", "External"))
    shop.kubectl("scale", "deployment", "imports-workers", "--replicas=4")
    seen = shop.get("queuepolicy", "imports")["metadata"]["resourceVersion"]
    until(
        lambda: shop.get("queuepolicy", "imports")["metadata"]["resourceVersion"] != seen, timeout_seconds=30
    )
    assert shop.replicas("imports-workers") == 4


def test_kubectl_scale_moves_a_manual_policy(shop: Shop, queue: str) -> None:
    spec = workers_policy(queue, mode="Manual")
    spec["workers"] = WORKERS | {"replicas": 2}
    shop.policy("imports", spec)
    until(lambda: shop.exists("deployment", "imports-workers"), timeout_seconds=30)
    until(lambda: shop.replicas("imports-workers") == 2, timeout_seconds=30)
    shop.kubectl("scale", "queuepolicy", "imports", "--replicas=3")
    until(lambda: shop.replicas("imports-workers") == 3, timeout_seconds=30)


def _image(shop: Shop) -> str:
    spec = shop.get("deployment", "imports-workers")["spec"]["template"]["spec"]
    return str(spec["containers"][0]["image"])


def _args(shop: Shop, name: str) -> list[str]:
    if not shop.exists("deployment", name):
        return []
    return list(shop.get("deployment", name)["spec"]["template"]["spec"]["containers"][0]["args"])


def _secret_digest(shop: Shop) -> str:
    template = shop.get("deployment", "imports-workers")["spec"]["template"]
    return str(template["metadata"]["annotations"]["stanchion.dev/redis-secret"])
