"""What one worker is asked to be: the parsed and checked form of `stanchion worker`'s arguments.

Made by the command line and by `stanchion dev`; passed as JSON to each child.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Self

from stanchion.dialect import WIRES
from stanchion.errors import InvalidSettings

QUEUE_NAME = re.compile(r"[A-Za-z_:.\-0-9]+")
"""What Sidekiq's web page can show, and what never holds the `|` of a lease entry."""
QUEUE_ORDERS = ("strict", "weighted", "random")
MAX_QUEUES = 16
"""Each child waits for each of its queues on a connection of its own."""
MAX_CONCURRENCY = 1000
MAX_PROCESSES = 128
MAX_WEIGHT = 1000


@dataclass(frozen=True, slots=True)
class QueueWeight:
    """One `-q NAME[,WEIGHT]`."""

    name: str
    weight: int = 1

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `NAME` or `NAME,WEIGHT`. Raises InvalidSettings."""
        name, comma, weight = text.partition(",")
        if not QUEUE_NAME.fullmatch(name):
            raise InvalidSettings(
                f"queue name {name!r} may hold only letters, digits and _ : . -; for example -q mail,5"
            )
        if comma and not (weight.isdigit() and 1 <= int(weight) <= MAX_WEIGHT):
            raise InvalidSettings(
                f"the weight of queue {name} must be a whole number from 1 to {MAX_WEIGHT}, not {weight!r}"
            )
        return cls(name, int(weight) if comma else 1)


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """A worker: which app, which queues, how many processes and slots. Raises InvalidSettings."""

    app: str
    """`module:attribute` of the stanchion.App."""
    queues: tuple[QueueWeight, ...]
    concurrency: int = 10
    """Slots of each child."""
    processes: int = 1
    """Children of the supervisor."""
    drain_timeout_seconds: float = 25.0
    """How long running jobs may take to end after TERM; then they return to their queues."""
    queue_order: str = "strict"
    """`strict` (as given), `weighted` (weight = chance to stand first), or `random`."""
    http: str | None = None
    """`HOST:PORT` of /healthz, /readyz and /metrics."""
    redis_url: str | None = None
    """Absent: the app's."""
    beat_seconds: float = 2.0
    dead_after_seconds: float = 10.0
    """An observer takes a process for dead when its beat counter stood still this long."""
    tag: str = ""
    """Shown on Sidekiq's web page."""
    wire: str | None = None
    """Which Sidekiq version's records are written (`auto`, `6`, `7`, `8`). Absent: the app's setting."""
    log_format: str = "text"
    """`text` or `json`."""
    log_level: str = "info"
    """`debug`, `info`, `warning` or `error`."""
    log_jobs: str = "all"
    """Which jobs get a line when they end: `all` or `failed`."""

    def __post_init__(self) -> None:
        if not self.queues:
            raise InvalidSettings("a worker needs at least one queue: -q NAME")
        names = self.queue_names
        if len(names) > MAX_QUEUES:
            raise InvalidSettings(f"a worker serves at most {MAX_QUEUES} queues, not {len(names)}")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidSettings(f"queue {twice[0]} is given twice; state its weight as -q {twice[0]},2")
        _check_range("concurrency", self.concurrency, 1, MAX_CONCURRENCY)
        _check_range("processes", self.processes, 1, MAX_PROCESSES)
        _check_range("drain-timeout-seconds", self.drain_timeout_seconds, 0, 86_400)
        if self.queue_order not in QUEUE_ORDERS:
            raise InvalidSettings(
                f"queue-order must be one of {', '.join(QUEUE_ORDERS)}, not {self.queue_order!r}"
            )
        if self.wire is not None and self.wire not in WIRES:
            raise InvalidSettings(f"wire must be one of {', '.join(WIRES)}, not {self.wire!r}")
        if self.http is not None:
            parse_address(self.http)
        if not 0 < 2 * self.beat_seconds <= self.dead_after_seconds:
            raise InvalidSettings(
                f"dead-after-seconds ({self.dead_after_seconds}) must be at least twice beat-seconds "
                f"({self.beat_seconds}), else one late beat looks like a death"
            )

    @property
    def queue_names(self) -> tuple[str, ...]:
        """The queues in the order given."""
        return tuple(queue.name for queue in self.queues)

    def dump(self) -> str:
        """For a child's command line."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Self:
        """What `dump` wrote."""
        fields = json.loads(text)
        queues = tuple(QueueWeight(**queue) for queue in fields.pop("queues"))
        return cls(queues=queues, **fields)


def parse_address(text: str) -> tuple[str, int]:
    """`HOST:PORT`, `[IPV6]:PORT` or `:PORT` (all addresses). Raises InvalidSettings."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65_535:
        raise InvalidSettings(f"the address {text!r} must be HOST:PORT, for example 0.0.0.0:9394")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - asked for by leaving the host out


def _check_range(name: str, value: float, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidSettings(f"{name} must be from {low} to {high}, not {value:g}")
