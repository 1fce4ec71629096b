"""The pod of a worker: one container that runs `stanchion worker`, admitted under the restricted standard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stanchion.policy.workers import Workers
from stanchion_operator.render.labels import SECRET_ANNOTATION, labels
from stanchion_operator.render.template import WORKER, overlay

HTTP_PORT = 9394
GRACE_SECONDS = 10
"""Added to the drain time-out: what a worker needs to give its jobs back and leave."""
HARDENED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}


@dataclass(frozen=True, slots=True)
class Ridden:
    """A queue that a worker serves, and its weight among the others."""

    queue: str
    weight: int = 1


@dataclass(frozen=True, slots=True)
class RedisSecret:
    """Where the worker's Redis URL stands, and a digest that changes with it."""

    name: str
    key: str
    digest: str


def pod_template(
    policy: str, workers: Workers, queues: Sequence[Ridden], redis: RedisSecret
) -> dict[str, Any]:
    """The template, with the policy's own overlay on top; the overlay has been checked."""
    template = {
        "metadata": {"labels": labels(policy), "annotations": {SECRET_ANNOTATION: redis.digest}},
        "spec": {
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": workers.drain_timeout_seconds + GRACE_SECONDS,
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "topologySpreadConstraints": [_spread(policy, key) for key in SPREAD_OVER],
            "volumes": [{"name": "tmp", "emptyDir": {}}],
            "containers": [_container(workers, queues, redis)],
        },
    }
    laid: dict[str, Any] = overlay(template, workers.template or {})
    spec = dict(laid["spec"])
    for field in ("containers", "initContainers"):
        if field in spec:
            spec[field] = [_hardened(container) for container in spec[field]]
    return {**laid, "spec": spec}


def _hardened(container: Mapping[str, Any]) -> dict[str, Any]:
    """A container of the overlay's, too, must be admitted; what it states itself has been checked."""
    context = overlay(HARDENED, container.get("securityContext") or {})
    return {**container, "securityContext": context}


SPREAD_OVER = ("kubernetes.io/hostname", "topology.kubernetes.io/zone")


def _spread(policy: str, topology_key: str) -> dict[str, Any]:
    """A wish, not a rule: a pod on the wrong node is better than none."""
    return {
        "maxSkew": 1,
        "topologyKey": topology_key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"stanchion.dev/policy": policy}},
    }


def _container(workers: Workers, queues: Sequence[Ridden], redis: RedisSecret) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": WORKER,
        "image": workers.image,
        "command": ["stanchion"],
        "args": _arguments(workers, queues),
        "env": [
            {
                "name": "STANCHION_REDIS_URL",
                "valueFrom": {"secretKeyRef": {"name": redis.name, "key": redis.key}},
            },
            *workers.env,
        ],
        "ports": [{"name": "http", "containerPort": HTTP_PORT, "protocol": "TCP"}],
        "livenessProbe": _probe("/healthz", failures=3),
        "readinessProbe": _probe("/readyz", failures=1),
        "startupProbe": _probe("/healthz", failures=60),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - a path in the pod
    }
    if workers.env_from:
        container["envFrom"] = list(workers.env_from)
    if workers.resources:
        container["resources"] = workers.resources
    return container


def _arguments(workers: Workers, queues: Sequence[Ridden]) -> list[str]:
    arguments = ["worker", str(workers.app)]
    for ridden in queues:
        arguments += ["-q", ridden.queue if ridden.weight == 1 else f"{ridden.queue},{ridden.weight}"]
    return [
        *arguments,
        "-c",
        str(workers.concurrency),
        "--processes",
        str(workers.processes),
        "--drain-timeout-seconds",
        str(workers.drain_timeout_seconds),
        "--queue-order",
        workers.queue_order,
        "--http",
        f"0.0.0.0:{HTTP_PORT}",
    ]


def _probe(path: str, *, failures: int) -> dict[str, Any]:
    """Every second while it starts and for readiness: scale-in waits for a drained pod to report itself."""
    period_seconds = 10 if failures == 3 else 1
    return {
        "httpGet": {"path": path, "port": "http"},
        "periodSeconds": period_seconds,
        "timeoutSeconds": 3,
        "failureThreshold": failures,
    }
