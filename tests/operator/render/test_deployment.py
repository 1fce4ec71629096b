from __future__ import annotations

import copy
from typing import Any

import pytest

from stanchion.policy.queue_policy import QueuePolicy
from stanchion_operator.errors import SpecRefused
from stanchion_operator.render.deployment import render, unscaled
from stanchion_operator.render.pod import RedisSecret, Ridden
from stanchion_operator.render.template import check, overlay

SECRET = RedisSecret("stanchion-redis", "url", "d1")


def manifest(**workers: Any) -> dict[str, Any]:
    metadata = {"name": "imports", "namespace": "shop", "uid": "u1"}
    return {"metadata": metadata, "spec": {"workers": {"image": "shop:1", "app": "shop.jobs:app", **workers}}}


def rendered(secret: RedisSecret = SECRET, queues: tuple[str, ...] = ("imports",), **workers: Any) -> Any:
    policy = QueuePolicy.from_manifest(manifest(**workers))
    assert policy.workers
    return render(policy, policy.workers, [Ridden(queue) for queue in queues], secret)


def pod(body: Any) -> Any:
    return body["spec"]["template"]["spec"]


def test_replicas_are_never_in_the_body() -> None:
    assert "replicas" not in rendered()["spec"]
    assert "replicas" not in unscaled(rendered())["spec"]


def test_the_first_form_is_paused_and_without_digest() -> None:
    first = unscaled(rendered())
    assert first["spec"]["paused"] is True
    assert "annotations" not in first["metadata"]
    assert "paused" not in rendered()["spec"]


def test_the_digest_is_stable_and_moves_with_everything_that_counts() -> None:
    def digest(body: Any) -> str:
        return str(body["metadata"]["annotations"]["stanchion.dev/digest"])

    same = digest(rendered())
    assert digest(rendered()) == same
    changed = [
        rendered(concurrency=11),
        rendered(env=[{"name": "A", "value": "1"}]),
        rendered(queues=("imports", "mail")),
        rendered(RedisSecret("stanchion-redis", "url", "d2")),
    ]
    assert len({same, *map(digest, changed)}) == 5


def test_the_worker_is_told_everything() -> None:
    body = rendered(concurrency=3, processes=2, drainTimeoutSeconds=40, queueOrder="Weighted")
    [container] = pod(body)["containers"]
    assert " ".join(container["args"]) == (
        "worker shop.jobs:app -q imports -c 3 --processes 2 --drain-timeout-seconds 40 "
        "--queue-order Weighted --http 0.0.0.0:9394"
    )
    assert pod(body)["terminationGracePeriodSeconds"] == 50


def test_the_pod_fits_the_restricted_standard() -> None:
    spec = pod(rendered(template={"spec": {"initContainers": [{"name": "warm", "image": "i"}]}}))
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    for container in [*spec["containers"], *spec["initContainers"]]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}


def test_the_url_comes_from_the_secret_and_stands_nowhere() -> None:
    [container] = pod(rendered())["containers"]
    assert container["env"][0]["valueFrom"]["secretKeyRef"] == {"name": "stanchion-redis", "key": "url"}
    assert "redis://" not in str(rendered())


def test_the_template_is_laid_over_by_name() -> None:
    over = {
        "metadata": {"labels": {"team": "shop"}},
        "spec": {
            "nodeSelector": {"disk": "fast"},
            "containers": [{"name": "worker", "env": [{"name": "A", "value": "1"}], "workingDir": "/app"}],
            "volumes": [{"name": "data", "emptyDir": {}}],
        },
    }
    body = rendered(template=over)
    [container] = pod(body)["containers"]
    assert [each["name"] for each in container["env"]] == ["STANCHION_REDIS_URL", "A"]
    assert container["image"] == "shop:1"
    assert [each["name"] for each in pod(body)["volumes"]] == ["tmp", "data"]
    assert body["spec"]["template"]["metadata"]["labels"]["team"] == "shop"


def test_rendering_leaves_the_policy_as_it_was() -> None:
    template = {"spec": {"containers": [{"name": "side", "image": "i"}]}}
    before = copy.deepcopy(template)
    rendered(template=template)
    assert template == before


def test_lists_without_a_key_are_replaced() -> None:
    assert overlay({"args": ["a"], "env": [{"name": "A"}]}, {"args": ["b"]}) == {
        "args": ["b"],
        "env": [{"name": "A"}],
    }


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"serviceAccountName": "admin"}, "spec.serviceAccountName"),
        ({"hostNetwork": True}, "spec.hostNetwork"),
        ({"nodeName": "n"}, "spec.nodeName"),
        ({"securityContext": {"runAsNonRoot": False}}, "spec.securityContext.runAsNonRoot"),
        ({"securityContext": {"runAsUser": 0}}, "spec.securityContext.runAsUser 0"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, "spec.volumes[0].hostPath"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}, "spec.volumes[0].secret"),
        ({"containers": [{"name": "worker", "securityContext": {"privileged": True}}]}, "privileged"),
        ({"containers": [{"name": "w", "ports": [{"containerPort": 1, "hostPort": 1}]}]}, "hostPort"),
        ({"containers": [{"image": "i"}]}, "spec.containers[0] without a name"),
        ({"aFieldOfTheFuture": 1}, "spec.aFieldOfTheFuture"),
    ],
)
def test_what_its_author_could_not_create_is_refused(spec: dict[str, Any], path: str) -> None:
    with pytest.raises(SpecRefused) as refused:
        check({"spec": spec}, allow_privileged=False)
    assert path in refused.value.message
    check({"spec": spec}, allow_privileged=True)


def test_our_own_labels_cannot_be_set_even_with_the_flag() -> None:
    with pytest.raises(SpecRefused, match="belongs to Stanchion"):
        check({"metadata": {"labels": {"stanchion.dev/policy": "other"}}}, allow_privileged=True)
