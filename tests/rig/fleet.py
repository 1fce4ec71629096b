"""Pods that are only objects, made to look alive to the operator."""

from __future__ import annotations

import json
import time
from typing import Any

from rig.shop import Shop


class FakeFleet:
    """Plays kubelet and workers: the pods of a Deployment become ready and beat in Redis.

    The control plane of the tests has no node, so pods are only objects; what the operator goes by is
    their Ready condition and the process records in Redis, and both are written here.
    """

    def __init__(self, shop: Shop, policy: str, queue: str) -> None:
        self._shop, self._policy, self._queue = shop, policy, queue
        self.busy: dict[str, int] = {}
        self.quiet: set[str] = set()
        self.sick: set[str] = set()
        """Pods that work and yet report themselves unready."""

    def pods(self) -> list[str]:
        """Names of the pods that are not being deleted, oldest first."""
        listed = self._shop.get("pods", "--selector", f"stanchion.dev/policy={self._policy}")
        alive = [pod for pod in listed["items"] if "deletionTimestamp" not in pod["metadata"]]
        return [pod["metadata"]["name"] for pod in sorted(alive, key=_age)]

    def beat(self) -> list[str]:
        """One heartbeat of every pod: obey signals, be ready unless quiet. Returns the pods."""
        pods = self.pods()
        for name in pods:
            identity = f"{name}:1:cafe"
            client = self._shop.redis
            while signal_name := client.rpop(f"{identity}-signals"):
                assert signal_name == b"TSTP"
                self.quiet.add(name)
            self._record(identity, name)
            self._set_ready(name, ready=name not in self.quiet | self.sick)
        self._forget(set(pods))
        return pods

    def _record(self, identity: str, name: str) -> None:
        info = {"hostname": name, "pid": 1, "concurrency": 10, "queues": [self._queue], "identity": identity}
        client = self._shop.redis
        client.sadd("processes", identity)
        client.hset(
            identity,
            mapping={
                "info": json.dumps(info),
                "concurrency": 10,
                "busy": self.busy.get(name, 0),
                "beat": time.time(),
                "quiet": "true" if name in self.quiet else "false",
            },
        )
        client.expire(identity, 60)

    def _set_ready(self, name: str, *, ready: bool) -> None:
        condition = {"type": "Ready", "status": "True" if ready else "False"}
        patch = {"status": {"phase": "Running", "conditions": [condition]}}
        argv = ["patch", "pod", name, "--subresource=status", "--type=merge", "--patch", json.dumps(patch)]
        # Unchecked: the pod may have been removed since it was listed.
        self._shop.cluster.kubectl("--namespace", self._shop.namespace, *argv, check=False)

    def _forget(self, alive: set[str]) -> None:
        for raw in self._shop.redis.smembers("processes"):
            identity = raw.decode() if isinstance(raw, bytes) else raw
            name = identity.partition(":")[0]
            if name.startswith(f"{self._policy}-workers-") and name not in alive:
                self._shop.redis.srem("processes", identity)
                self._shop.redis.delete(identity)


def _age(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["creationTimestamp"])
