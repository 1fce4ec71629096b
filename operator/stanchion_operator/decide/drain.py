"""Fewer workers without losing a running job: quiet them, wait until they are idle, then let those go.

Kubernetes removes pods that are not ready before all others, whatever their deletion cost. So the number
falls only by what has drained, and only while every other pod is ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from stanchion.scaling.facts import ProcessFacts

DRAINED_COST = -1000
IN_USE_COST = 0


@dataclass(frozen=True, slots=True)
class PodFacts:
    """A pod of the Deployment that is not on its way out already."""

    name: str
    ready: bool
    cost: int = 0
    created_at: str = ""
    processes: tuple[ProcessFacts, ...] = ()

    @property
    def busy(self) -> int:
        """Jobs it is running."""
        return sum(process.busy for process in self.processes)

    @property
    def quiet(self) -> bool:
        """It takes no more jobs: all its processes were told so. They cannot be told otherwise again."""
        return bool(self.processes) and all(process.quiet for process in self.processes)

    @property
    def never_worked(self) -> bool:
        """It has not started to work, so nothing is lost with it."""
        return not self.processes and not self.ready


@dataclass(frozen=True, slots=True)
class Drain:
    """What to do this tick: processes to quiet, pods to mark, and the number to ask for."""

    replicas: int
    quiet: tuple[str, ...] = ()
    costs: dict[str, int] = field(default_factory=dict)
    holding: str = ""
    """Why fewer are wanted and nothing goes yet."""


def join(pods: Iterable[PodFacts], processes: Sequence[ProcessFacts]) -> list[PodFacts]:
    """Give each pod its processes: a worker's hostname is its pod's name."""
    return [
        PodFacts(
            pod.name,
            pod.ready,
            pod.cost,
            pod.created_at,
            tuple(process for process in processes if process.hostname == pod.name),
        )
        for pod in pods
    ]


def live(pods: Iterable[PodFacts]) -> int:
    """Pods that count as capacity: a quiet one does not."""
    return sum(not pod.quiet for pod in pods)


def plan(wanted: int, replicas: int, pods: Sequence[PodFacts], *, rolling: bool, ours: bool) -> Drain:
    """The step towards `wanted` live pods of a Deployment that asks for `replicas`.

    `ours`: the pods report themselves unready once they are quiet, and that is waited for.
    """
    quiet = [pod for pod in pods if pod.quiet]
    if wanted > replicas - len(quiet):
        return Drain(wanted + len(quiet))  # quiet pods are replaced first and go afterwards
    if rolling:
        return Drain(replicas, holding="a rollout is under way")
    victims = _victims(pods, replicas - wanted)
    drained = [pod for pod in victims if _drained(pod, ours)]
    gone = [pod for pod in victims if pod.never_worked or pod in drained]
    # Among pods that have nothing to lose it does not matter which one goes.
    in_danger = [pod.name for pod in pods if not pod.ready and pod not in gone and (pod.processes or drained)]
    orders = tuple(process.identity for pod in victims for process in pod.processes if not process.quiet)
    if in_danger:
        return Drain(replicas, orders, holding=f"{', '.join(sorted(in_danger))} would be removed unready")
    costs = {pod.name: DRAINED_COST for pod in gone if pod.cost != DRAINED_COST}
    waiting = [pod.name for pod in victims if pod not in gone]
    holding = f"draining {', '.join(sorted(waiting))}" if waiting else ""
    return Drain(replicas - len(gone), orders, costs, holding)


def _victims(pods: Sequence[PodFacts], count: int) -> list[PodFacts]:
    """Those quiet already, then those that never worked, the idle, the least busy, the newest."""
    by_age = sorted(pods, key=lambda pod: pod.created_at, reverse=True)
    ranked = sorted(by_age, key=lambda pod: (not pod.quiet, not pod.never_worked, pod.busy))
    return ranked[: max(count, 0)]


def _drained(pod: PodFacts, ours: bool) -> bool:
    return pod.quiet and pod.busy == 0 and not (ours and pod.ready)
