"""What one look at Redis says about a queue: the only input of the control law.

Made by `stanchion.store.facts.sample`. Only eligible work counts as waiting: what a pause, a budget or
a lock holds back cannot be helped by more workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """One live process (the heartbeat of its supervisor)."""

    identity: str
    hostname: str
    pid: int
    concurrency: int
    busy: int
    quiet: bool
    queues: tuple[str, ...]
    beat_at_seconds: float


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """One queue at one moment of the Redis clock. Counters only grow, until Redis forgets them."""

    queue: str
    at_seconds: float
    """Redis TIME. Only compared with other facts, never with the caller's clock."""
    waiting: int = 0
    """Eligible jobs in the ready list; 0 while the queue is paused."""
    oldest_age_seconds: float = 0.0
    """How long the oldest eligible job has waited; 0 when none waits."""
    busy: int = 0
    """Slots that run a job of this queue now."""
    enqueued: int = 0
    eligible: int = 0
    """Counter: jobs that became runnable, at push or when their time came."""
    done: int = 0
    """Counter: attempts that ended, failed ones included: each held a slot."""
    failed: int = 0
    """Counter: the attempts among them that failed."""
    busy_ms: int = 0
    """Counter: milliseconds that ended attempts have run."""
    due_soon: int = 0
    """Scheduled and retried jobs of this queue that fall due within the lead time."""
    paused: bool = False
    service_hint_seconds: float | None = None
    """Mean runtime of the jobs at the head, from the histogram; None if they never ran."""
    running: Mapping[str, int] = field(default_factory=dict)
    """Job name -> slots of this queue that run it now."""
    runtime_p95_seconds: Mapping[str, float] = field(default_factory=dict)
    """Job name -> 95th percentile of its runtime, for the jobs in `running` that have a histogram."""
    processes: tuple[ProcessFacts, ...] = ()
    """The live processes that serve this queue."""

    @property
    def idle(self) -> bool:
        """Nothing waits, runs or falls due: the only state in which zero workers are right."""
        return not (self.waiting or self.busy or self.due_soon or any(p.busy for p in self.processes))
