"""A namespace of a test's own, with a Redis that the operator can reach."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import redis

from testcluster.cluster import Cluster
from waiting import until

PATIENCE_SECONDS = 30.0


@dataclass
class Shop:
    """A namespace of a test's own, with a Redis that the operator can reach."""

    cluster: Cluster
    namespace: str
    redis: redis.Redis
    url: str

    def policy(self, name: str, spec: dict[str, Any], *, kind: str = "QueuePolicy", **metadata: Any) -> None:
        """Apply one policy."""
        self.cluster.apply(
            {
                "apiVersion": "stanchion.dev/v1alpha1",
                "kind": kind,
                "metadata": {"name": name, "namespace": self.namespace, **metadata},
                "spec": spec,
            }
        )

    def kubectl(self, *args: str) -> str:
        """kubectl in this namespace."""
        return self.cluster.kubectl("--namespace", self.namespace, *args).stdout

    def get(self, *args: str) -> dict[str, Any]:
        """One object."""
        found: dict[str, Any] = self.cluster.get("--namespace", self.namespace, *args)
        return found

    def condition(self, name: str, kind: str, of: str = "queuepolicy") -> tuple[str, str]:
        """Status and reason of a condition; empty while there is none."""
        conditions = self.get(of, name).get("status", {}).get("conditions", [])
        return next(((c["status"], c["reason"]) for c in conditions if c["type"] == kind), ("", ""))

    def wait_for(self, name: str, kind: str, wanted: tuple[str, str], of: str = "queuepolicy") -> None:
        """Wait for a condition."""
        seen: list[tuple[str, str]] = [("", "")]

        def holds() -> bool:
            seen[0] = self.condition(name, kind, of)
            return seen[0] == wanted

        try:
            until(holds, timeout_seconds=PATIENCE_SECONDS)
        except AssertionError:
            raise AssertionError(f"{name}: {kind} is {seen[0]}, not {wanted}") from None

    def replicas(self, deployment: str) -> int:
        """What a Deployment asks for."""
        return int(self.get("deployment", deployment)["spec"]["replicas"])

    def exists(self, *args: str) -> bool:
        """Whether there is such an object."""
        listed = self.kubectl("get", *args, "--ignore-not-found", "--output=name")
        return bool(listed.strip())


@contextmanager
def open_shop(cluster: Cluster, url: str) -> Iterator[Shop]:
    """A namespace with the Secret `stanchion-redis`; queue names on a shared Redis must differ."""
    with cluster.namespace("shop") as namespace, redis.Redis.from_url(url) as client:
        made = Shop(cluster, namespace, client, url)
        made.kubectl("create", "secret", "generic", "stanchion-redis", f"--from-literal=url={url}")
        yield made
