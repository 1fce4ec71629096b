"""Stanchion: a gate in front of a Redis queue.

What an application imports. The package's own files import from the rooms, never from here.
"""

from stanchion.app import App
from stanchion.call import Call
from stanchion.current import CurrentJob, current_job
from stanchion.definition import JobDefinition
from stanchion.errors import (
    InvalidArguments,
    InvalidSettings,
    MalformedPayload,
    RedisUnavailable,
    Refused,
    StanchionError,
    TimeLimitExceeded,
    UnknownJob,
)
from stanchion.job import Job
from stanchion.jobset import JobSet
from stanchion.outcomes import Discard, Interrupted, Kill, Retry, Snooze
from stanchion.settings import Settings
from stanchion.tracing import traceparent
from stanchion.verdict import Verdict

__all__ = [
    "App",
    "Call",
    "CurrentJob",
    "Discard",
    "Interrupted",
    "InvalidArguments",
    "InvalidSettings",
    "Job",
    "JobDefinition",
    "JobSet",
    "Kill",
    "MalformedPayload",
    "RedisUnavailable",
    "Refused",
    "Retry",
    "Settings",
    "Snooze",
    "StanchionError",
    "TimeLimitExceeded",
    "UnknownJob",
    "Verdict",
    "current_job",
    "traceparent",
]
