"""What of a Sidekiq's Redis works with Stanchion, what works with a limit, what does not. Pure.

Called by `admin.diagnosis`. It speaks only of what was seen there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from stanchion.admin.wording import counted
from stanchion.dialect import Dialect, major_of
from stanchion.store.survey import Survey, Work

OLDEST_RUBY = 6


class Verdict(StrEnum):
    """How well something works."""

    WORKS = "works"
    LIMITED = "limited"
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Fit:
    """One thing that was seen, and how it gets on with Stanchion."""

    verdict: Verdict
    what: str
    how: str


def fits(survey: Survey) -> Iterator[Fit]:
    """Everything that was seen, in a fixed order."""
    if survey.work is not None:
        yield from _processes(survey.work)
        yield from _payloads(survey.work)
    space = survey.keyspace
    if space is not None and (space.unique_digests or space.unique_keys):
        yield Fit(
            Verdict.LIMITED,
            f"sidekiq-unique-jobs (it holds {counted(space.unique_digests, 'lock')})",
            "a Python worker neither asks for such a lock nor releases it, so it would stay until it expires "
            "or is reaped: leave the queues of locked jobs to Ruby",
        )


def _processes(work: Work) -> Iterator[Fit]:
    ruby = [process for process in work.processes if process.is_alive and not process.is_ours]
    versions = sorted({process.version for process in ruby if process.version})
    for version in versions:
        major = major_of(version)
        is_old = major is not None and int(version.partition(".")[0]) < OLDEST_RUBY
        dialect = Dialect.of("auto", [version])
        yield Fit(
            Verdict.FAILS if is_old else Verdict.WORKS,
            f"Sidekiq {version}",
            "is older than 6.0: its forms were never tried"
            if is_old
            else f"its jobs are read, and ours are written as it reads them (dialect {min(dialect.majors)})",
        )
    if len({major_of(version) for version in versions}) > 1:
        yield Fit(
            Verdict.WORKS,
            "several major versions",
            "we write what all of them read: float seconds, both hashes",
        )
    if ruby:
        yield Fit(
            Verdict.LIMITED,
            counted(len(ruby), "Ruby process"),
            "SIGKILL of one loses the jobs in its hands, and free Sidekiq does not obey a pause",
        )


def _payloads(work: Work) -> Iterator[Fit]:
    """By what a few payloads carry."""
    words = {
        "ActiveJob": (
            Verdict.WORKS,
            "policies and lists go by the wrapped job's name; the payload is passed on untouched",
        ),
        "batches": (
            Verdict.LIMITED,
            "a Python worker does not report to Sidekiq Pro's batches: leave those queues to Ruby",
        ),
        "encryption": (
            Verdict.FAILS,
            "a Python worker cannot read the encrypted argument: leave those queues to Ruby",
        ),
        "Enterprise unique": (
            Verdict.LIMITED,
            "a Python worker does not release Enterprise's unique locks; they end by their time",
        ),
    }
    for feature, (verdict, how) in words.items():
        if count := work.samples.get(feature):
            yield Fit(verdict, f"{feature} ({count} of {work.sampled} jobs looked at)", how)
