"""The engines that are compared: how each is started, and how its client pushes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
JOBS = HERE / "jobs"
PEERS = Path(os.environ.get("BENCH_PEERS", HERE / ".peers"))

Argv = list[str]


@dataclass(frozen=True, slots=True)
class Shape:
    """How a worker is run."""

    slots: int = 10
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Contender:
    """One engine. `workers` gives the commands that are a worker; `client` is followed by mode and count."""

    name: str
    program: str
    """Without it the engine is left out."""
    workers: Callable[[Shape], list[Argv]]
    client: Argv
    bulk: str = "bulk"
    """The client's mode that fills a queue."""

    @property
    def is_here(self) -> bool:
        return shutil.which(self.program) is not None


def ours(shape: Shape) -> list[Argv]:
    """One supervisor, however many processes."""
    queue = ["-q", "bench", "-c", str(shape.slots), "--processes", str(shape.processes)]
    return [[sys.executable, "-m", "stanchion", "worker", "ours:app", *queue, "--log-jobs", "failed"]]


def sidekiq(shape: Shape) -> list[Argv]:
    command = ["sidekiq", "-r", "./sidekiq.rb", "-q", "bench", "-c", str(shape.slots)]
    return [command] * shape.processes


def bullmq(shape: Shape) -> list[Argv]:
    return [["node", "bullmq.mjs", "worker", str(shape.slots)]] * shape.processes


def huey(shape: Shape) -> list[Argv]:
    program = str(PEERS / "huey/bin/huey_consumer")
    return [[program, "huey_app.huey", "-w", str(shape.slots), "-k", "thread", "-q"]] * shape.processes


def dramatiq(shape: Shape) -> list[Argv]:
    program = str(PEERS / "dramatiq/bin/dramatiq")
    return [[program, "dramatiq_app", "-p", str(shape.processes), "-t", str(shape.slots)]]


def python(peer: str, script: str) -> Argv:
    return [str(PEERS / peer / "bin/python"), script]


OUR_CLIENT = [sys.executable, "ours.py"]
ASYNCIO = Contender("stanchion", sys.executable, ours, OUR_CLIENT)
THREADS = Contender("stanchion-threads", sys.executable, ours, OUR_CLIENT, bulk="in_thread")
SIDEKIQ = Contender("sidekiq", "sidekiq", sidekiq, ["ruby", "sidekiq.rb"])
BULLMQ = Contender("bullmq", str(PEERS / "bullmq/node_modules/.bin/semver"), bullmq, ["node", "bullmq.mjs"])
HUEY = Contender("huey", str(PEERS / "huey/bin/huey_consumer"), huey, python("huey", "huey_app.py"))
DRAMATIQ = Contender(
    "dramatiq", str(PEERS / "dramatiq/bin/dramatiq"), dramatiq, python("dramatiq", "dramatiq_app.py")
)
ALL = (ASYNCIO, THREADS, SIDEKIQ, BULLMQ, DRAMATIQ, HUEY)
