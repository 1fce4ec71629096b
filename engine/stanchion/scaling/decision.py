"""What one tick of the autoscaler answers: a number, the figures behind it and HPA's three conditions."""

from __future__ import annotations

from dataclasses import dataclass

from stanchion.scaling.estimate import Estimate
from stanchion.scaling.law import Demand


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition's value; the reasons are those of the HorizontalPodAutoscaler v2."""

    status: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The wanted replicas and why. `estimate` and `demand` are None when no facts were at hand."""

    current: int
    desired: int
    estimate: Estimate | None
    demand: Demand | None
    able_to_scale: Condition
    scaling_active: Condition
    scaling_limited: Condition
    reason: str
    """One line for people: what decided the number."""

    @property
    def changed(self) -> bool:
        """Whether the number must be written."""
        return self.desired != self.current
