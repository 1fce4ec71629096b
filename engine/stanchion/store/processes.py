"""The worker processes as Sidekiq's process list has them, Ruby's and ours; and the signals they hear.

Called by `stanchion process`, `why` and `doctor`. A signal is heard at the process's next beat.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis

from stanchion.store import keys
from stanchion.store.ruby_processes import OUR_LABEL
from stanchion.store.work_record import Running, read_all

SIGNAL_TTL_SECONDS = 60
QUIET, STOP = "TSTP", "TERM"


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `beat_at_seconds` is None once its record has expired: it died, or left without a word.

    `version` is the Sidekiq version it states; `embedded` ones obey no signals.
    """

    identity: str
    beat_at_seconds: float | None = None
    hostname: str = ""
    pid: int = 0
    tag: str = ""
    version: str = ""
    labels: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    concurrency: int = 0
    busy: int = 0
    is_quiet: bool = False
    is_embedded: bool = False
    rss_kb: int = 0
    started_at_seconds: float | None = None
    running: tuple[Running, ...] = ()

    @property
    def is_alive(self) -> bool:
        """Whether it has beaten within the minute that its record lives."""
        return self.beat_at_seconds is not None

    @property
    def is_ours(self) -> bool:
        """Whether it is a Stanchion worker."""
        return OUR_LABEL in self.labels


def read_all_processes(client: redis.Redis) -> list[Process]:
    """Every process that is listed, by identity."""
    members: Any = client.smembers(keys.PROCESSES)
    identities = sorted(name.decode(errors="replace") for name in members)
    with client.pipeline(transaction=False) as pipeline:
        for identity in identities:
            pipeline.hgetall(keys.process(identity))
            pipeline.hvals(keys.work(identity))
            pipeline.hvals(keys.work_of_sidekiq_6(identity))
        replies = pipeline.execute() if identities else []
    return [
        read(identity, record, work or old_work)
        for identity, record, work, old_work in zip(
            identities, replies[::3], replies[1::3], replies[2::3], strict=True
        )
    ]


def read(identity: str, record: dict[bytes, bytes], work: Sequence[bytes]) -> Process:
    """One process from its heartbeat hash and its running jobs. What cannot be read of it stays empty."""
    if not record:
        return Process(identity, running=read_all(work))
    info = _object(record.get(b"info", b""))
    return Process(
        identity=identity,
        beat_at_seconds=_number(record.get(b"beat")),
        hostname=str(info.get("hostname", "")),
        pid=_whole(info.get("pid")),
        tag=str(info.get("tag") or ""),
        version=str(info.get("version") or ""),
        labels=_texts(info.get("labels")),
        queues=_texts(info.get("queues")),
        concurrency=_whole(record.get(b"concurrency", info.get("concurrency"))),
        busy=_whole(record.get(b"busy")),
        is_quiet=record.get(b"quiet") == b"true",
        is_embedded=info.get("embedded") is True,
        rss_kb=_whole(record.get(b"rss")),
        started_at_seconds=_number(info.get("started_at")) or None,
        running=read_all(work),
    )


def signal(client: redis.Redis, identity: str, name: str) -> None:
    """Leave a signal for a process, as Sidekiq's web page does."""
    with client.pipeline(transaction=True) as pipeline:
        pipeline.lpush(keys.signals(identity), name)
        pipeline.expire(keys.signals(identity), SIGNAL_TTL_SECONDS)
        pipeline.execute()


def _object(text: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _whole(value: Any) -> int:
    number = _number(value)
    return int(number) if math.isfinite(number) else 0


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
