"""What a look over a Redis means: findings, the worst first, and what will work. Pure.

Called by `stanchion doctor`.
"""

from __future__ import annotations

from dataclasses import dataclass

from stanchion.admin import interoperation, server_findings, work_findings
from stanchion.admin.finding import Finding, Rank
from stanchion.admin.interoperation import Fit
from stanchion.policy.queue_policy import DeadLimits
from stanchion.store.survey import Survey


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings by rank, and what of this Redis fits Stanchion."""

    findings: tuple[Finding, ...]
    fits: tuple[Fit, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether nothing needs to be done: notes do not count."""
        return all(finding.rank is Rank.NOTE for finding in self.findings)


def diagnose(survey: Survey, limits: DeadLimits) -> Diagnosis:
    """`limits` are those of the dead set."""
    findings = list(server_findings.of_server(survey.server))
    if survey.pulse is not None:
        findings += server_findings.of_pulse(survey.pulse)
    if survey.keyspace is not None:
        findings += server_findings.of_keyspace(survey.keyspace, survey.wrong_types)
    if survey.work is not None:
        findings += work_findings.of_queues(survey.work)
        findings += work_findings.of_processes(survey.work)
        findings += work_findings.of_sets(survey.work, limits)
    ranked = sorted(findings, key=lambda finding: finding.rank)
    return Diagnosis(tuple(ranked), tuple(interoperation.fits(survey)))
