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
    UnknownJob,
)
from stanchion.jobset import JobSet
from stanchion.settings import Settings
from stanchion.verdict import Verdict

__all__ = [
    "App",
    "Call",
    "CurrentJob",
    "InvalidArguments",
    "InvalidSettings",
    "JobDefinition",
    "JobSet",
    "MalformedPayload",
    "RedisUnavailable",
    "Refused",
    "Settings",
    "StanchionError",
    "UnknownJob",
    "Verdict",
    "current_job",
]
