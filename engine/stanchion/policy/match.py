"""Which of several policies governs a queue or a job: the same answer in every room."""

from __future__ import annotations

from dataclasses import dataclass

from stanchion.policy.section import Section


@dataclass(frozen=True, slots=True)
class Match:
    """Patterns a LockPolicy or TenantBudget acts on: exact names, globs, or `*`; an absent list is `*`."""

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
