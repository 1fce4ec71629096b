"""What a Redis says of itself: version, role, memory, persistence; and how fast and in step it answers.

Called by `stanchion doctor`. INFO may be forbidden, CONFIG often is, so only INFO is asked.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import redis
from redis.exceptions import NoPermissionError

PINGS = 7


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A server. `name` is redis, or valkey where it says so; `max_memory` 0 is no limit."""

    name: str
    version: str
    mode: str
    role: str
    uptime_seconds: int
    used_memory: int
    max_memory: int
    eviction_policy: str
    evicted_keys: int
    has_append_only_file: bool
    persistence_is_failing: bool
    seconds_since_snapshot: float
    clients: int
    max_clients: int

    @property
    def holds_all_data(self) -> bool:
        """Whether commands on any key are answered here: not by a Sentinel, nor by one node of a cluster."""
        return self.mode == "standalone"


@dataclass(frozen=True, slots=True)
class Pulse:
    """Round trips in seconds, and how far the server's clock is ahead of ours."""

    round_trips: tuple[float, ...]
    clock_ahead_seconds: float

    @property
    def median_seconds(self) -> float:
        """The typical round trip."""
        return sorted(self.round_trips)[len(self.round_trips) // 2]


def read(client: redis.Redis) -> ServerInfo | None:
    """Ask INFO; None if this user may not. A Sentinel answers it, too, and little else."""
    try:
        info: Any = client.info()
    except NoPermissionError:
        return None
    return parse(info, float(info.get("server_time_usec", time.time() * 1e6)) / 1e6)


def parse(info: dict[str, Any], now: float) -> ServerInfo:
    """INFO as redis-py gives it at `now`, epoch seconds. What an old server does not say counts as nothing
    wrong.
    """
    is_valkey = "valkey_version" in info
    saved_at = float(info.get("rdb_last_save_time", now))
    return ServerInfo(
        name="valkey" if is_valkey else "redis",
        version=str(info.get("valkey_version" if is_valkey else "redis_version", "")),
        mode=str(info.get("redis_mode") or info.get("server_mode") or "standalone"),
        role=str(info.get("role", "master")),
        uptime_seconds=int(info.get("uptime_in_seconds", 0)),
        used_memory=int(info.get("used_memory", 0)),
        max_memory=int(info.get("maxmemory", 0)),
        eviction_policy=str(info.get("maxmemory_policy", "noeviction")),
        evicted_keys=int(info.get("evicted_keys", 0)),
        has_append_only_file=bool(int(info.get("aof_enabled", 0))),
        persistence_is_failing="err"
        in (info.get("rdb_last_bgsave_status"), info.get("aof_last_write_status")),
        seconds_since_snapshot=max(0.0, now - saved_at),
        clients=int(info.get("connected_clients", 0)),
        max_clients=int(info.get("maxclients", 0)),
    )


def take_pulse(client: redis.Redis) -> Pulse:
    """A few round trips. The first is left out: it may open the connection."""
    client.ping()
    trips, ahead = [], []
    for _ in range(PINGS):
        before, started = time.time(), time.perf_counter()
        seconds, microseconds = client.time()
        trip = time.perf_counter() - started
        trips.append(trip)
        ahead.append(float(seconds) + float(microseconds) / 1e6 - (before + trip / 2))
    return Pulse(tuple(trips), sorted(ahead)[PINGS // 2])
