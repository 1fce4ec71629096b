"""The `autoscaling` part of a QueuePolicy: who owns the number of replicas, and its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stanchion.errors import InvalidPolicy
from stanchion.policy.section import Section

MODES = ("Latency", "Manual", "External")
GUARDS = ("Off", "Observe")


@dataclass(frozen=True, slots=True)
class Schedule:
    """A floor under the replicas between two 5-field cron times of a time zone."""

    time_zone: str
    start: str
    end: str
    min_replicas: int


@dataclass(frozen=True, slots=True)
class Dependency:
    """A named thing behind the jobs and how many of them it stands, over all queues that name it."""

    name: str
    max_concurrency: int


@dataclass(frozen=True, slots=True)
class Fallback:
    """The replicas to run once the queue's figures have been unreadable for so long."""

    failure_seconds: int
    replicas: int


@dataclass(frozen=True, slots=True)
class Autoscaling:
    """The defaults are those of an absent `autoscaling`. `behavior` is the HPA v2 stanza, unread."""

    mode: str = "Latency"
    min_replicas: int = 1
    max_replicas: int = 10
    behavior: Mapping[str, Any] | None = None
    schedules: tuple[Schedule, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    fallback: Fallback | None = None
    downstream_guard: str = "Observe"
    dry_run: bool = False

    @classmethod
    def from_section(cls, spec: Section) -> Autoscaling:
        """Reads `spec.autoscaling`. Raises InvalidPolicy if the bounds are crossed."""
        minimum, maximum = spec.integer("minReplicas", 1), spec.integer("maxReplicas", 10)
        if minimum > maximum:
            raise InvalidPolicy(f"{spec.path}.minReplicas", f"{minimum} is above maxReplicas {maximum}")
        return cls(
            mode=spec.choice("mode", MODES, "Latency"),
            min_replicas=minimum,
            max_replicas=maximum,
            behavior=spec.opaque("behavior"),
            schedules=tuple(
                Schedule(
                    time_zone=entry.text("timeZone", "Etc/UTC"),
                    start=entry.required("start"),
                    end=entry.required("end"),
                    min_replicas=entry.integer("minReplicas", 1),
                )
                for entry in spec.sections("schedules")
            ),
            dependencies=tuple(
                Dependency(entry.required("name"), entry.integer("maxConcurrency", 1))
                for entry in spec.sections("dependencies")
            ),
            fallback=_fallback(spec),
            downstream_guard=spec.choice("downstreamGuard", GUARDS, "Observe"),
            dry_run=spec.flag("dryRun", False),
        )


def _fallback(spec: Section) -> Fallback | None:
    fallback = spec.section("fallback")
    if fallback is None:
        return None
    return Fallback(fallback.integer("failureSeconds", 180), fallback.integer("replicas", 1))
