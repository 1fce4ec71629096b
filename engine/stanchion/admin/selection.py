"""Which jobs a verb acts on: the filters of the command line, as one pure test. Called by the bulk verbs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from stanchion.job import Job
from stanchion.policy.match import matches_any
from stanchion.store import keys
from stanchion.store.entries import Entry
from stanchion.store.search import identify

FINGERPRINT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Found:
    """An entry of a set, read. `job` is None where the bytes are no job."""

    entry: Entry
    job: Job | None

    @classmethod
    def read(cls, entry: Entry) -> Found:
        """Never raises: bytes that are no job must stay visible and deletable."""
        return cls(entry, Job.read(entry.member))

    @property
    def id(self) -> str:
        """The job's id, or a stand-in."""
        return self.job.jid if self.job else identify(self.entry.member)

    @property
    def fingerprint(self) -> bytes:
        """Names the exact bytes without keeping them."""
        return hashlib.blake2b(self.entry.member, digest_size=FINGERPRINT_BYTES).digest()


@dataclass(frozen=True, slots=True)
class Selection:
    """All filters must hold; an absent one holds always. Ages are in seconds, see `since`."""

    queue: str | None = None
    job: str | None = None
    error: str | None = None
    older_than_seconds: float | None = None
    newer_than_seconds: float | None = None

    @property
    def is_everything(self) -> bool:
        """Whether no filter is given."""
        return self == Selection()

    def covers(self, job: Job | None, since_seconds: float | None, now: float) -> bool:
        """Whether a job that is in its place `since_seconds` (epoch) is meant. What cannot be told is not."""
        if self.is_everything:
            return True
        age = None if since_seconds is None else now - since_seconds
        if self.older_than_seconds is not None and (age is None or age < self.older_than_seconds):
            return False
        if self.newer_than_seconds is not None and (age is None or age > self.newer_than_seconds):
            return False
        if self.queue is None and self.job is None and self.error is None:
            return True
        return job is not None and self._fits(job)

    def _fits(self, job: Job) -> bool:
        if self.queue is not None and job.queue != self.queue:
            return False
        if self.job is not None and not matches_any([self.job], job.name):
            return False
        return self.error is None or self.error.casefold() in error_of(job).casefold()


def since(set_key: str, found: Found) -> float | None:
    """From when the age of an entry counts, epoch seconds: its death in `dead`, its latest failure in
    `retry`, its making in `schedule`.
    """
    if set_key == keys.DEAD:
        return found.entry.score
    if found.job is None:
        return None
    if set_key == keys.RETRY:
        return last_failure_seconds(found.job)
    return found.job.created_at_seconds


def last_failure_seconds(job: Job) -> float | None:
    """When the job failed last, epoch seconds."""
    return job.retried_at_seconds or job.failed_at_seconds


def error_of(job: Job) -> str:
    """`Class: message` of the last failure; empty if there was none."""
    parts = (job.fields.get("error_class"), job.fields.get("error_message"))
    return ": ".join(str(part) for part in parts if part)
