"""What the autoscaler remembers between ticks. Frozen: each step returns a new one.

Only `events` need to outlive a restart (the operator keeps them in the status, see `with_events`);
after a restart the present number counts as a recommendation, so scale-in waits a full window.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from stanchion.scaling.facts import QueueFacts


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What was wanted at a moment, before any limit."""

    at_seconds: float
    replicas: int


@dataclass(frozen=True, slots=True)
class ScaleEvent:
    """The number was changed."""

    at_seconds: float
    from_replicas: int
    to_replicas: int

    @property
    def added(self) -> int:
        """Replicas added; 0 for a scale-in. Waking from zero is free: counted, it would leave the next
        step a percentage of nothing."""
        return max(0, self.to_replicas - self.from_replicas) if self.from_replicas else 0

    @property
    def removed(self) -> int:
        """Replicas removed; 0 for a scale-out."""
        return max(0, self.from_replicas - self.to_replicas)


@dataclass(frozen=True, slots=True)
class ScalingState:
    """Samples of the queue (and of those that ride with it), recommendations, events, outage."""

    samples: tuple[QueueFacts, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    events: tuple[ScaleEvent, ...] = ()
    blind_since_seconds: float | None = None
    """Since when no facts could be read; None while they can."""

    @classmethod
    def empty(cls) -> ScalingState:
        """The state of a fresh start."""
        return cls()

    def with_events(self, events: Iterable[ScaleEvent]) -> ScalingState:
        """This state with the events that an earlier life recorded, oldest first."""
        return replace(self, events=tuple(events))
