"""The `behavior` stanza of the HorizontalPodAutoscaler v2: how fast the number may move, each way.

Read from a validated policy; absent fields take our defaults, which were measured on a simulator:
scale out ten-fold in 15 s (HPA's doubling cost half a minute over the target on a step of load), scale
in after 120 s (HPA's 300 s cost 17 % more pod-hours for little).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stanchion.scaling.law import TOLERANCE


@dataclass(frozen=True, slots=True)
class Policy:
    """At most `value` pods, or percent of the pods, within any `period_seconds`."""

    kind: Literal["Pods", "Percent"]
    value: int
    period_seconds: int


@dataclass(frozen=True, slots=True)
class Rules:
    """One direction. Max picks the policy that lets the number move most, Min the least."""

    stabilization_window_seconds: int
    policies: tuple[Policy, ...]
    select: Literal["Max", "Min", "Disabled"] = "Max"
    tolerance: float = TOLERANCE

    @property
    def longest_period_seconds(self) -> int:
        """How long an event of this direction must be remembered."""
        return max((policy.period_seconds for policy in self.policies), default=0)


DEFAULT_UP = Rules(0, (Policy("Percent", 900, 15),))
DEFAULT_DOWN = Rules(120, (Policy("Percent", 100, 15),))


@dataclass(frozen=True, slots=True)
class Behavior:
    """Both directions."""

    up: Rules = DEFAULT_UP
    down: Rules = DEFAULT_DOWN

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any] | None) -> Behavior:
        """From the stanza's JSON (already validated by the CRD's schema); each absent field is ours."""
        spec = spec or {}
        return cls(_rules(spec.get("scaleUp"), DEFAULT_UP), _rules(spec.get("scaleDown"), DEFAULT_DOWN))


def _rules(spec: Mapping[str, Any] | None, default: Rules) -> Rules:
    spec = spec or {}
    policies = tuple(
        Policy(policy["type"], policy["value"], policy["periodSeconds"])
        for policy in spec.get("policies") or ()
    )
    return Rules(
        stabilization_window_seconds=spec.get(
            "stabilizationWindowSeconds", default.stabilization_window_seconds
        ),
        policies=policies or default.policies,
        select=spec.get("selectPolicy", default.select),
        tolerance=_quantity(spec.get("tolerance", default.tolerance)),
    )


def _quantity(value: object) -> float:
    """A tolerance as Kubernetes writes it: a number, "0.05", or in thousandths "50m"."""
    text = str(value)
    return float(text.removesuffix("m")) / 1000 if text.endswith("m") else float(text)
