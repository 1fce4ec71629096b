"""Which of several policies governs a queue or a job: the same answer in every room.

A job pattern counts before a queue pattern; an exact name before a glob before `*`; then the older
policy, then the name. One policy wins, the others are shadowed there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Generic, Protocol, TypeVar

from stanchion.policy.owner import Owner
from stanchion.policy.section import Section

EXACT, GLOB, ANY = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Match:
    """What a LockPolicy or TenantBudget acts on: exact names, globs (`*`: any characters) or `*` alone."""

    queues: tuple[str, ...] = ("*",)
    jobs: tuple[str, ...] = ("*",)

    @classmethod
    def from_section(cls, spec: Section) -> Match:
        """Reads `spec.match`."""
        queues, jobs = spec.texts("queues"), spec.texts("jobs")
        return cls(
            queues=("*",) if queues is None else queues,
            jobs=("*",) if jobs is None else jobs,
        )


class Matching(Protocol):
    """A policy that says what it acts on."""

    @property
    def owner(self) -> Owner: ...
    @property
    def match(self) -> Match: ...


P = TypeVar("P", bound=Matching)


@dataclass(frozen=True, slots=True)
class Resolution(Generic[P]):
    """The policy that governs, and those that match but lose, best first."""

    winner: P | None
    shadowed: tuple[P, ...] = ()


def resolve(policies: Iterable[P], queue: str, job: str = "*") -> Resolution[P]:
    """Which policy governs `job` on `queue`. Scope is the caller's concern (`scope.in_scope`)."""
    ranked = sorted(
        (rank, policy.owner.age_order, index, policy)
        for index, policy in enumerate(policies)
        if (rank := _rank(policy.match, queue, job)) is not None
    )
    ordered = [entry[-1] for entry in ranked]
    return Resolution(ordered[0], tuple(ordered[1:])) if ordered else Resolution(None)


def matches_any(patterns: Iterable[str], name: str) -> bool:
    """Whether one of the patterns covers `name`."""
    return specificity(patterns, name) is not None


def specificity(patterns: Iterable[str], name: str) -> int | None:
    """EXACT, GLOB or ANY: the best of the patterns that cover `name`; None if none does."""
    found = [_kind(pattern) for pattern in patterns if pattern == name or fnmatchcase(name, pattern)]
    return min(found, default=None)


def is_shadowed(policy: P, rivals: Iterable[P], queues: Iterable[str]) -> bool:
    """Whether `policy` governs nothing on `queues` although it matches: rivals win everywhere.

    The jobs in question are its own patterns, each probed as if it were a name.
    """
    everyone = (policy, *rivals)
    probes = [(queue, job) for queue in queues for job in policy.match.jobs if _covers(policy, queue, job)]
    return bool(probes) and all(resolve(everyone, queue, job).winner is not policy for queue, job in probes)


def _covers(policy: Matching, queue: str, job: str) -> bool:
    return _rank(policy.match, queue, job) is not None


def _rank(match: Match, queue: str, job: str) -> tuple[int, int] | None:
    by_job, by_queue = specificity(match.jobs, job), specificity(match.queues, queue)
    return None if by_job is None or by_queue is None else (by_job, by_queue)


def _kind(pattern: str) -> int:
    if pattern == "*":
        return ANY
    return GLOB if "*" in pattern else EXACT
