"""A TenantBudget: what each tenant of the matched queues may spend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from stanchion.errors import InvalidPolicy
from stanchion.policy.match import Match
from stanchion.policy.owner import Owner
from stanchion.policy.section import Json, Section

T = TypeVar("T")

PER = ("Tenant", "TenantAndJob")
ON_ENQUEUE = ("Park", "Refuse")
ON_EXECUTE = ("Park", "Drop")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one tenant. None: inherited (tenant ← tier ← default); absent everywhere: no limit."""

    rate_per_second: float | None = None
    burst: int | None = None
    max_in_flight: int | None = None
    weight: int | None = None
    max_queued: int | None = None

    def over(self, below: Limits) -> Limits:
        """These limits, with what they leave open taken from `below`."""
        return Limits(
            rate_per_second=_first(self.rate_per_second, below.rate_per_second),
            burst=_first(self.burst, below.burst),
            max_in_flight=_first(self.max_in_flight, below.max_in_flight),
            weight=_first(self.weight, below.weight),
            max_queued=_first(self.max_queued, below.max_queued),
        )

    @classmethod
    def from_section(cls, spec: Section) -> Limits:
        return cls(
            rate_per_second=spec.number("ratePerSecond"),
            burst=spec.integer("burst"),
            max_in_flight=spec.integer("maxInFlight"),
            weight=spec.integer("weight"),
            max_queued=spec.integer("maxQueued"),
        )


@dataclass(frozen=True, slots=True)
class Tier:
    """A named set of limits."""

    name: str
    limits: Limits


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant's tier and own limits."""

    name: str
    tier: str | None
    limits: Limits


@dataclass(frozen=True, slots=True)
class TenantBudget:
    """One manifest of kind TenantBudget, and equally the content of its config hash."""

    owner: Owner
    match: Match
    default: Limits = field(default_factory=Limits)
    tiers: tuple[Tier, ...] = ()
    tenants: tuple[Tenant, ...] = ()
    per: str = "Tenant"
    on_exceeded_enqueue: str = "Park"
    on_exceeded_execute: str = "Park"
    dry_run: bool = False

    def limits(self, tenant: str, tier: str | None = None) -> Limits:
        """What binds `tenant`. `tier`: one assigned at run time, which beats the declared one."""
        named = next((entry for entry in self.tenants if entry.name == tenant), None)
        tier = tier or (named.tier if named else None)
        middle = next((entry.limits for entry in self.tiers if entry.name == tier), Limits())
        return (named.limits if named else Limits()).over(middle.over(self.default))

    @classmethod
    def from_manifest(cls, manifest: Json) -> TenantBudget:
        """Reads a validated manifest. Raises InvalidPolicy if it limits nothing or names no such tier."""
        return cls.from_spec(Owner.from_manifest(manifest), Section(manifest.get("spec") or {}, "spec"))

    @classmethod
    def from_spec(cls, owner: Owner, spec: Section) -> TenantBudget:
        """As `from_manifest`, of the spec alone."""
        if not any(part in spec for part in ("default", "tiers", "tenants")):
            raise InvalidPolicy("spec", "needs one of default, tiers, tenants")
        exceeded = spec.section("onExceeded") or Section({}, "spec.onExceeded")
        match = Match.from_section(spec.section("match") or Section({}, "spec.match"))
        budget = cls(
            owner=owner,
            match=Match(queues=match.queues),
            default=Limits.from_section(spec.section("default") or Section({}, "spec.default")),
            tiers=tuple(
                Tier(entry.required("name"), Limits.from_section(entry)) for entry in spec.sections("tiers")
            ),
            tenants=tuple(
                Tenant(entry.required("name"), entry.text("tier"), Limits.from_section(entry))
                for entry in spec.sections("tenants")
            ),
            per=spec.choice("per", PER, "Tenant"),
            on_exceeded_enqueue=exceeded.choice("enqueue", ON_ENQUEUE, "Park"),
            on_exceeded_execute=exceeded.choice("execute", ON_EXECUTE, "Park"),
            dry_run=spec.flag("dryRun", False),
        )
        _check_tiers(budget)
        return budget


def _check_tiers(budget: TenantBudget) -> None:
    known = {tier.name for tier in budget.tiers}
    for index, tenant in enumerate(budget.tenants):
        if tenant.tier is not None and tenant.tier not in known:
            raise InvalidPolicy(f"spec.tenants[{index}].tier", f"no tier is named {tenant.tier!r}")


def _first(value: T | None, below: T | None) -> T | None:
    return below if value is None else value
