"""Looks over any Sidekiq's Redis, read-only and bounded: what is there, in which form, in whose hands.

Called by `stanchion doctor`, which draws the conclusions. It must never write, nor read a whole keyspace.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import redis
from redis.exceptions import NoPermissionError

from stanchion.job import Job
from stanchion.store import entries, keys, processes, queues
from stanchion.store.key_types import wrong_types
from stanchion.store.processes import Process
from stanchion.store.queues import QueueLine
from stanchion.store.server_info import Pulse, ServerInfo, read, take_pulse

TYPES = {
    keys.QUEUES: "set",
    keys.SCHEDULE: "zset",
    keys.RETRY: "zset",
    keys.DEAD: "zset",
    keys.PROCESSES: "set",
    keys.PAUSED: "set",
    keys.CONFIG_INDEX: "hash",
    keys.BEATS: "hash",
}
"""The keys without which nothing can be read, and what they have to be."""
SETS = (keys.SCHEDULE, keys.RETRY, keys.DEAD)
SAMPLED_JOBS, SAMPLED_QUEUES = 20, 50
SCANNED_KEYS, SCANNED_PER_CALL = 20_000, 1000
OVERDUE_SECONDS = 60.0
FEATURES = {
    "ActiveJob": ("wrapped",),
    "batches": ("bid",),
    "encryption": ("encrypt",),
    "Enterprise unique": ("unique_for",),
}
"""What a field of a payload tells of the gems and editions behind it."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """Jobs leased by a Stanchion process whose record has expired."""

    identity: str
    jobs: int


@dataclass(frozen=True, slots=True)
class Work:
    """Queues, processes and sets. `overdue` counts jobs due for more than a minute, by set; `samples` what
    was seen in a few payloads of each place, `malformed` those that are no jobs.
    """

    queues: tuple[QueueLine, ...]
    processes: tuple[Process, ...]
    sizes: Mapping[str, int]
    overdue: Mapping[str, int]
    stuck: tuple[Stuck, ...]
    samples: Mapping[str, int]
    sampled: int
    malformed: int


@dataclass(frozen=True, slots=True)
class Keyspace:
    """A bounded look over the names of keys: locks of the unique-jobs gem, and prefixes before `queues`."""

    keys: int
    scanned: int
    unique_digests: int
    unique_keys: int
    namespaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything. Where no single server holds the data (a Sentinel, a cluster) only `server` is known;
    `work` is None while a key of a wrong type stands in the way of reading, too.
    """

    server: ServerInfo | None
    pulse: Pulse | None = None
    keyspace: Keyspace | None = None
    wrong_types: Mapping[str, str] = field(default_factory=dict)
    work: Work | None = None


def survey(client: redis.Redis) -> Survey:
    """Look once. Raises redis-py's errors."""
    server = read(client)
    if server is not None and not server.holds_all_data:
        return Survey(server)
    pulse = take_pulse(client)
    now = entries.clock(client)
    wrong = wrong_types(client, TYPES)
    if not wrong:
        names: Any = client.smembers(keys.QUEUES)
        wrong = wrong_types(client, {keys.queue(name.decode(errors="replace")): "list" for name in names})
    return Survey(server, pulse, _keyspace(client), wrong, None if wrong else _work(client, now))


def _work(client: redis.Redis, now: float) -> Work:
    everyone = processes.read_all_processes(client)
    lines = queues.overview(client, everyone)
    with client.pipeline(transaction=False) as pipeline:
        for set_key in SETS:
            pipeline.zcard(set_key)
            pipeline.zcount(set_key, "-inf", now - OVERDUE_SECONDS)
            pipeline.zrange(set_key, 0, SAMPLED_JOBS - 1)
        for line in lines[:SAMPLED_QUEUES]:
            pipeline.lrange(keys.queue(line.queue), -SAMPLED_JOBS, -1)
        replies = pipeline.execute()
    payloads = [payload for page in (*replies[2:9:3], *replies[9:]) for payload in page]
    jobs = [job for payload in payloads if (job := Job.read(payload)) is not None]
    return Work(
        queues=tuple(lines),
        processes=tuple(everyone),
        sizes=dict(zip(SETS, replies[0:9:3], strict=True)),
        overdue={
            set_key: due
            for set_key, due in zip(SETS, replies[1:9:3], strict=True)
            if due and set_key != keys.DEAD
        },
        stuck=tuple(_stuck(client, everyone)),
        samples=features(jobs),
        sampled=len(payloads),
        malformed=len(payloads) - len(jobs),
    )


def features(jobs: Iterable[Job]) -> Mapping[str, int]:
    """How many of the jobs carry what a gem or an edition leaves in payloads."""
    seen = Counter(
        feature for job in jobs for feature, fields in FEATURES.items() if any(map(job.fields.get, fields))
    )
    return dict(seen)


def _stuck(client: redis.Redis, everyone: Sequence[Process]) -> Iterable[Stuck]:
    alive = {process.identity for process in everyone if process.is_alive}
    beats: Any = client.hkeys(keys.BEATS)
    for identity in sorted({name.decode(errors="replace") for name in beats} - alive):
        members: Any = client.hgetall(keys.members(identity))
        with client.pipeline(transaction=False) as pipeline:
            for incarnation, served in members.items():
                pipeline.hlen(keys.lease(incarnation.decode()))
                for queue in json.loads(served):
                    pipeline.llen(keys.inbox(incarnation.decode(), queue))
            jobs = sum(pipeline.execute()) if members else 0
        yield Stuck(identity, jobs)


def _keyspace(client: redis.Redis) -> Keyspace:
    total: Any = client.dbsize()
    scanned, unique, namespaces = 0, 0, set[bytes]()
    for name in islice(_names(client), SCANNED_KEYS):
        scanned += 1
        unique += name.startswith(b"uniquejobs")
        if name.endswith(b":queues"):
            namespaces.add(name.removesuffix(b":queues"))
    found = tuple(sorted(name.decode(errors="replace") for name in namespaces))
    return Keyspace(int(total), scanned, _digests(client), unique, found)


def _names(client: redis.Redis) -> Iterator[bytes]:
    """The names of keys, in no order; none where this user may not SCAN."""
    try:
        yield from client.scan_iter(count=SCANNED_PER_CALL)
    except NoPermissionError:
        return


def _digests(client: redis.Redis) -> int:
    kind: Any = client.type(keys.UNIQUE_DIGESTS)
    count: Any = {b"zset": client.zcard, b"set": client.scard}.get(kind, lambda key: 0)(keys.UNIQUE_DIGESTS)
    return int(count)
