"""What the parts of one supervisor share: its name in Redis, its client, its numbers, and whether it stops.

A process that was declared dead ends its life and begins another, under a new identity.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from dataclasses import dataclass, field
from random import Random

import redis.asyncio

from stanchion.metrics import Tally
from stanchion.store.ruby_processes import RubyProcesses
from stanchion.worker.options import WorkerOptions


def new_identity() -> str:
    """`hostname:pid:12 hex digits`, as Sidekiq names a process."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(6)}"


@dataclass(slots=True)
class Life:
    """One registered life of a supervisor."""

    options: WorkerOptions
    client: redis.asyncio.Redis
    tally: Tally
    identity: str = field(default_factory=new_identity)
    started_at: float = field(default_factory=time.time)
    rng: Random = field(default_factory=Random)
    ruby: RubyProcesses = field(default_factory=lambda: RubyProcesses("auto"))
    """The Ruby processes beside us, and so the dialect we write."""
    is_quiet: bool = False
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
