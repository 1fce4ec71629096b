"""The `workers` part of a QueuePolicy: who runs the jobs, and with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stanchion.errors import InvalidPolicy
from stanchion.policy.section import Section

QUEUE_ORDERS = ("Strict", "Weighted", "Random")


@dataclass(frozen=True, slots=True)
class TargetRef:
    """A workload of the user's own that runs the queue."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Workers:
    """Exactly one of `image`, `target_ref`, `policy_ref` is set.

    `replicas` is accepted in Manual mode only; None keeps the present number. The last four are
    passed on to the Deployment unread.
    """

    image: str | None = None
    app: str | None = None
    target_ref: TargetRef | None = None
    policy_ref: str | None = None
    concurrency: int = 10
    processes: int = 1
    drain_timeout_seconds: int = 25
    queue_order: str = "Strict"
    weight: int = 1
    replicas: int | None = None
    env: tuple[Mapping[str, Any], ...] = ()
    env_from: tuple[Mapping[str, Any], ...] = ()
    resources: Mapping[str, Any] | None = None
    template: Mapping[str, Any] | None = None

    @property
    def slots_per_replica(self) -> int:
        """Jobs one pod runs at the same time."""
        return self.concurrency * self.processes

    @classmethod
    def from_section(cls, spec: Section) -> Workers:
        """Reads `spec.workers`. Raises InvalidPolicy unless exactly one kind of worker is named."""
        target = spec.section("targetRef")
        policy = spec.section("policyRef")
        arms = [name for name in ("image", "targetRef", "policyRef") if name in spec]
        if len(arms) != 1:
            found = " and ".join(arms) or "none"
            raise InvalidPolicy(spec.path, f"needs exactly one of image, targetRef, policyRef; found {found}")
        if "image" in spec and "app" not in spec:
            raise InvalidPolicy(f"{spec.path}.app", "is required with image, e.g. shop.jobs:app")
        return cls(
            image=spec.text("image"),
            app=spec.text("app"),
            target_ref=TargetRef(target.text("kind", "Deployment"), target.required("name"))
            if target
            else None,
            policy_ref=policy.required("name") if policy else None,
            concurrency=spec.integer("concurrency", 10),
            processes=spec.integer("processes", 1),
            drain_timeout_seconds=spec.integer("drainTimeoutSeconds", 25),
            queue_order=spec.choice("queueOrder", QUEUE_ORDERS, "Strict"),
            weight=spec.integer("weight", 1),
            replicas=spec.integer("replicas"),
            env=tuple(spec.opaque("env") or ()),
            env_from=tuple(spec.opaque("envFrom") or ()),
            resources=spec.opaque("resources"),
            template=spec.opaque("template"),
        )
