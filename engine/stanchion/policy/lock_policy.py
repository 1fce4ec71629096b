"""A LockPolicy: which jobs count as the same, and what happens to the second one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stanchion.errors import InvalidPolicy
from stanchion.policy.match import Match
from stanchion.policy.owner import Owner
from stanchion.policy.section import Json, Section

LOCKS = ("UntilExecuting", "UntilExecuted", "UntilExpired", "WhileExecuting", "UntilAndWhileExecuting")
ON_ENQUEUE = ("Skip", "Raise", "Replace", "RerunOnce")
ON_EXECUTE = ("Park", "Kill", "Raise", "Skip")
DIGESTS = ("Canonical", "UniqueJobsLegacy", "UniqueJobsModern")
SLOT_STRATEGIES = ("Replace", "RerunOnce")
SLOT_LOCKS = ("UntilExecuting", "UntilExecuted", "UntilAndWhileExecuting")
DEFAULT_PREFIX = "uniquejobs"
BUILT_IN: Mapping[str, Any] = {
    "limit": 1,
    "ttl": {"auto": {}},
    "key": {"include": None, "exclude": [], "acrossQueues": False, "acrossJobs": False, "perTenant": False},
    "onConflict": {"enqueue": "Skip", "execute": "Park"},
}
"""What holds where neither policy nor code states a field; `include` None means all arguments."""


@dataclass(frozen=True, slots=True)
class AutoTtl:
    """Expiry is `factor` × the `quantile` of the measured runtime, within the two bounds."""

    quantile: float = 0.99
    factor: float = 2.0
    min_seconds: int = 60
    max_seconds: int = 3600


@dataclass(frozen=True, slots=True)
class LockKey:
    """What sameness is made of. None: not stated here, so code or the built-in decides."""

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    across_queues: bool | None = None
    across_jobs: bool | None = None
    per_tenant: bool | None = None


@dataclass(frozen=True, slots=True)
class LockPolicy:
    """One manifest of kind LockPolicy, and equally the content of its config hash.

    Fields that code may set too (`limit`, `ttl`, `key`, `on_conflict_…`) are None where not stated.
    `ttl` is seconds or AutoTtl.
    """

    owner: Owner
    match: Match
    lock: str
    limit: int | None = None
    ttl: int | AutoTtl | None = None
    key: LockKey = field(default_factory=LockKey)
    on_conflict_enqueue: str | None = None
    on_conflict_execute: str | None = None
    digest: str = "Canonical"
    unique_jobs_prefix: str = DEFAULT_PREFIX
    dry_run: bool = False

    @classmethod
    def from_manifest(cls, manifest: Json) -> LockPolicy:
        """Reads a validated manifest. Raises InvalidPolicy for an impossible combination."""
        return cls.from_spec(Owner.from_manifest(manifest), Section(manifest.get("spec") or {}, "spec"))

    @classmethod
    def from_spec(cls, owner: Owner, spec: Section) -> LockPolicy:
        """As `from_manifest`, of the spec alone."""
        conflict = spec.section("onConflict")
        unique_jobs = spec.section("uniqueJobs")
        policy = cls(
            owner=owner,
            match=Match.from_section(spec.section("match") or Section({}, "spec.match")),
            lock=spec.choice("lock", LOCKS, spec.required("lock")),
            limit=spec.integer("limit"),
            ttl=_ttl(spec),
            key=_key(spec.section("key") or Section({}, "spec.key")),
            on_conflict_enqueue=_stated(conflict, "enqueue", ON_ENQUEUE),
            on_conflict_execute=_stated(conflict, "execute", ON_EXECUTE),
            digest=spec.choice("digest", DIGESTS, "Canonical"),
            unique_jobs_prefix=(
                unique_jobs.text("prefix", DEFAULT_PREFIX) if unique_jobs else DEFAULT_PREFIX
            ),
            dry_run=spec.flag("dryRun", False),
        )
        check(policy)
        return policy


def check(policy: LockPolicy) -> None:
    """Raises InvalidPolicy where the stated fields contradict each other."""
    if policy.lock == "UntilExpired" and not isinstance(policy.ttl, int):
        raise InvalidPolicy("spec.ttl.seconds", "is required by lock UntilExpired")
    if policy.on_conflict_enqueue not in SLOT_STRATEGIES:
        return
    where = f"onConflict.enqueue {policy.on_conflict_enqueue}"
    if policy.lock not in SLOT_LOCKS:
        raise InvalidPolicy("spec.lock", f"{where} needs one of {', '.join(SLOT_LOCKS)}")
    if policy.limit not in (None, 1):
        raise InvalidPolicy("spec.limit", f"{where} needs limit 1")
    if policy.digest != "Canonical":
        raise InvalidPolicy("spec.digest", f"{where} needs digest Canonical")


def _stated(section: Section | None, field: str, allowed: tuple[str, ...]) -> str | None:
    if section is None or field not in section:
        return None
    return section.choice(field, allowed, "")


def _ttl(spec: Section) -> int | AutoTtl | None:
    ttl = spec.section("ttl")
    if ttl is None:
        return None
    auto = ttl.section("auto")
    if auto is None:
        return ttl.integer("seconds")
    if "seconds" in ttl:
        raise InvalidPolicy(ttl.path, "needs exactly one of seconds and auto")
    default = AutoTtl()
    return AutoTtl(
        quantile=_or(auto.number("quantile"), default.quantile),
        factor=_or(auto.number("factor"), default.factor),
        min_seconds=auto.integer("minSeconds", default.min_seconds),
        max_seconds=auto.integer("maxSeconds", default.max_seconds),
    )


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _key(spec: Section) -> LockKey:
    return LockKey(
        include=spec.texts("include"),
        exclude=spec.texts("exclude"),
        across_queues=spec.flag("acrossQueues"),
        across_jobs=spec.flag("acrossJobs"),
        per_tenant=spec.flag("perTenant"),
    )
