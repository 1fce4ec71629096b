"""The Deployment of a QueuePolicy's workers, as it is applied: never with a number of replicas."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from stanchion.policy.queue_policy import QueuePolicy
from stanchion.policy.workers import Workers
from stanchion_operator.render.labels import DIGEST_ANNOTATION, POLICY_LABEL, deployment_name, labels
from stanchion_operator.render.pod import RedisSecret, Ridden, pod_template

Json = Mapping[str, Any]


def render(
    policy: QueuePolicy, workers: Workers, queues: Sequence[Ridden], redis: RedisSecret
) -> dict[str, Any]:
    """The complete body with its digest. Equal inputs give an equal digest."""
    owner = policy.owner
    body: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": deployment_name(owner.name),
            "namespace": owner.namespace,
            "labels": labels(owner.name),
            "ownerReferences": [_owner_reference(policy)],
        },
        "spec": {
            "selector": {"matchLabels": {POLICY_LABEL: owner.name}},
            "revisionHistoryLimit": 3,
            "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
            "template": pod_template(owner.name, workers, queues, redis),
        },
    }
    body["metadata"]["annotations"] = {DIGEST_ANNOTATION: digest(body)}
    return body


def unscaled(body: Json) -> dict[str, Any]:
    """The first form of a new Deployment: paused, so that no pod starts before the number is set.

    Without the digest: whoever finds it so knows that the last step is missing.
    """
    metadata = {key: value for key, value in body["metadata"].items() if key != "annotations"}
    return {**body, "metadata": metadata, "spec": {**body["spec"], "paused": True}}


def digest(body: Json) -> str:
    """SHA-256 of the canonical JSON, shortened."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _owner_reference(policy: QueuePolicy) -> dict[str, Any]:
    """Deleting the policy deletes the Deployment; it keeps the policy from going before it in foreground."""
    return {
        "apiVersion": "stanchion.dev/v1alpha1",
        "kind": "QueuePolicy",
        "name": policy.owner.name,
        "uid": policy.owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
