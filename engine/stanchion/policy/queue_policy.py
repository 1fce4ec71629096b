"""A QueuePolicy: what one queue promises. Read from manifests; the gate's part of it goes to Redis."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from stanchion.errors import InvalidPolicy
from stanchion.policy.autoscaling import Autoscaling
from stanchion.policy.owner import Owner
from stanchion.policy.section import Json, Section
from stanchion.policy.workers import Workers

FAIRNESS = ("None", "Tenant")
DELETION_POLICIES = ("Retain", "Delete")


@dataclass(frozen=True, slots=True)
class RedisRef:
    """The key of a Secret that holds the Redis URL."""

    secret_name: str
    key: str = "url"


@dataclass(frozen=True, slots=True)
class DeadLimits:
    """Bounds of the dead set; the largest of all policies on one Redis wins."""

    max_jobs: int = 10_000
    retention_seconds: int = 180 * 24 * 3600


@dataclass(frozen=True, slots=True)
class TenantSource:
    """Where to find the tenant: `path` into the payload, for jobs that match one of `jobs` (None: all)."""

    path: str
    jobs: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """What clients and workers obey of a QueuePolicy: the content of its config hash."""

    owner: Owner
    queue: str
    latency_target_seconds: int = 30
    fairness: str = "None"
    tenant_from: tuple[TenantSource, ...] = ()
    paused: bool = False
    max_retries: int | None = None
    dead: DeadLimits | None = None
    deletion_policy: str = "Retain"

    @classmethod
    def from_spec(cls, owner: Owner, queue: str, spec: Section) -> QueueConfig:
        """Reads the gate's part of a spec. Raises InvalidPolicy."""
        return QueueConfig(**_config_fields(owner, queue, spec))


@dataclass(frozen=True, slots=True)
class QueuePolicy(QueueConfig):
    """One manifest of kind QueuePolicy. None means not stated; `workers` None means gate only."""

    redis: RedisRef | None = None
    workers: Workers | None = None
    autoscaling: Autoscaling | None = None

    @property
    def effective_autoscaling(self) -> Autoscaling:
        """The stated autoscaling, else latency scaling between 1 and 10 replicas."""
        return self.autoscaling or Autoscaling()

    @property
    def config(self) -> QueueConfig:
        """Only what goes to Redis."""
        return QueueConfig(**{part.name: getattr(self, part.name) for part in fields(QueueConfig)})

    @classmethod
    def from_manifest(cls, manifest: Json) -> QueuePolicy:
        """Reads a validated manifest. Raises InvalidPolicy for what no schema can refuse."""
        owner = Owner.from_manifest(manifest)
        spec = Section(manifest.get("spec") or {}, "spec")
        workers, autoscaling = spec.section("workers"), spec.section("autoscaling")
        policy = cls(
            **_config_fields(owner, spec.text("queueName", owner.name), spec),
            redis=_redis_ref(spec),
            workers=Workers.from_section(workers) if workers else None,
            autoscaling=Autoscaling.from_section(autoscaling) if autoscaling else None,
        )
        _check_scaling(policy)
        return policy


def _config_fields(owner: Owner, queue: str, spec: Section) -> dict[str, Any]:
    retry, dead = spec.section("retry"), spec.section("dead")
    return {
        "owner": owner,
        "queue": queue,
        "latency_target_seconds": spec.integer("latencyTargetSeconds", 30),
        "fairness": spec.choice("fairness", FAIRNESS, "None"),
        "tenant_from": tuple(
            TenantSource(entry.required("path"), entry.texts("jobs")) for entry in spec.sections("tenantFrom")
        ),
        "paused": spec.flag("paused", False),
        "max_retries": retry.integer("maxRetries") if retry else None,
        "dead": _dead_limits(dead) if dead else None,
        "deletion_policy": spec.choice("deletionPolicy", DELETION_POLICIES, "Retain"),
    }


def _redis_ref(spec: Section) -> RedisRef | None:
    redis = spec.section("redis")
    secret = redis.section("secretRef") if redis else None
    return RedisRef(secret.required("name"), secret.text("key", "url")) if secret else None


def _dead_limits(spec: Section) -> DeadLimits:
    default = DeadLimits()
    return DeadLimits(
        max_jobs=spec.integer("maxJobs", default.max_jobs),
        retention_seconds=spec.integer("retentionSeconds", default.retention_seconds),
    )


def _check_scaling(policy: QueuePolicy) -> None:
    """The rules between `workers` and `autoscaling`, as the API server applies them."""
    workers = policy.workers
    if policy.autoscaling is not None and (workers is None or workers.policy_ref is not None):
        why = "needs workers to scale" if workers is None else "stands at the policy that policyRef names"
        raise InvalidPolicy("spec.autoscaling", why)
    if workers and workers.replicas is not None and policy.effective_autoscaling.mode != "Manual":
        raise InvalidPolicy("spec.workers.replicas", "is accepted only with autoscaling.mode Manual")
