"""Where each kind of object lives on the API server, and how an object is named inside the operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

GROUP = "stanchion.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
OPENAPI = f"/openapi/v3/apis/{API_VERSION}"

QUEUE_POLICY = "QueuePolicy"
LOCK_POLICY = "LockPolicy"
TENANT_BUDGET = "TenantBudget"
DEPLOYMENT = "Deployment"
SECRET = "Secret"  # noqa: S105 - the name of a kind
POD = "Pod"
LEASE = "Lease"
EVENT = "Event"

POLICIES = (QUEUE_POLICY, LOCK_POLICY, TENANT_BUDGET)
PREFIXES = {
    QUEUE_POLICY: (f"/apis/{API_VERSION}", "queuepolicies"),
    LOCK_POLICY: (f"/apis/{API_VERSION}", "lockpolicies"),
    TENANT_BUDGET: (f"/apis/{API_VERSION}", "tenantbudgets"),
    DEPLOYMENT: ("/apis/apps/v1", "deployments"),
    SECRET: ("/api/v1", "secrets"),
    POD: ("/api/v1", "pods"),
    LEASE: ("/apis/coordination.k8s.io/v1", "leases"),
    EVENT: ("/apis/events.k8s.io/v1", "events"),
}


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """One object: what the caches and the work queue are keyed by."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        """Its address on the API server."""
        return f"{collection(self.kind, self.namespace)}/{self.name}"

    @classmethod
    def of(cls, manifest: Any, kind: str | None = None) -> Key:
        """The key of an object as the API server sends it; items of a list do not say their kind."""
        metadata = manifest["metadata"]
        return cls(kind or manifest["kind"], metadata["namespace"], metadata["name"])


def collection(kind: str, namespace: str | None = None) -> str:
    """The address of all objects of a kind, in one namespace or in all."""
    prefix, plural = PREFIXES[kind]
    return f"{prefix}/namespaces/{namespace}/{plural}" if namespace else f"{prefix}/{plural}"
