"""Labels and annotations on what we make."""

from __future__ import annotations

POLICY_LABEL = "stanchion.dev/policy"
"""On Deployments and pods of ours: the name of the QueuePolicy. The selector, so it never changes."""
DIGEST_ANNOTATION = "stanchion.dev/digest"
"""On a Deployment: digest of the body last applied in full."""
SECRET_ANNOTATION = "stanchion.dev/redis-secret"  # noqa: S105 - the name of an annotation
"""On pods: digest of the Redis URL, so that a rotated password rolls the workers once."""


def labels(policy: str) -> dict[str, str]:
    """The labels of a policy's Deployment and pods."""
    return {
        "app.kubernetes.io/name": "stanchion-worker",
        "app.kubernetes.io/instance": policy,
        "app.kubernetes.io/managed-by": "stanchion",
        POLICY_LABEL: policy,
    }


def selector(policy: str) -> str:
    """The selector of a policy's pods, as a string."""
    return f"{POLICY_LABEL}={policy}"


def deployment_name(policy: str) -> str:
    """The Deployment of a policy."""
    return f"{policy}-workers"
