"""What is wrong with the Redis server itself. Called by `admin.diagnosis`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stanchion.admin.finding import Finding, Rank
from stanchion.admin.wording import span
from stanchion.store.server_info import Pulse, ServerInfo
from stanchion.store.survey import Keyspace

OLDEST = (6, 2)
"""The first Redis that has every command our scripts use (LMOVE, COPY, RPOP with a count)."""
FULL, NEARLY_FULL = 0.95, 0.8
SLOW_SECONDS, VERY_SLOW_SECONDS = 0.005, 0.05
SKEWED_SECONDS = 1.0


def of_server(server: ServerInfo | None) -> Iterator[Finding]:
    """Version, role, memory, persistence, connections."""
    if server is None:
        yield Finding(
            Rank.NOTE,
            "INFO is denied to this user",
            "version, memory, eviction and persistence stay unknown",
            "ACL SETUSER <user> +info, and run doctor again",
        )
        return
    yield from _kind(server)
    yield from _memory(server)
    yield from _persistence(server)
    if server.max_clients and server.clients > NEARLY_FULL * server.max_clients:
        yield Finding(
            Rank.WARNING,
            f"{server.clients} of {server.max_clients} connections are in use",
            "at the limit Redis refuses new workers and clients",
            "raise maxclients, or find who leaks: redis-cli CLIENT LIST",
        )


def _kind(server: ServerInfo) -> Iterator[Finding]:
    if server.mode == "cluster":
        yield Finding(
            Rank.CRITICAL,
            "this is a Redis Cluster",
            "a script of ours touches several keys, which a cluster spreads over its nodes",
            "use one primary, with replicas or Sentinel",
        )
    if server.mode == "sentinel":
        yield Finding(
            Rank.CRITICAL,
            "this is a Sentinel, no data server",
            "it only knows where the primary is",
            "give the URL as redis+sentinel://HOST:PORT/PRIMARY_NAME",
        )
    if server.role == "slave":
        yield Finding(
            Rank.CRITICAL,
            "this is a replica",
            "it takes no writes: nothing can be enqueued or run here",
            "give the URL of the primary, or of the Sentinels",
        )
    if server.name == "redis" and version_of(server.version) < OLDEST:
        yield Finding(
            Rank.CRITICAL,
            f"Redis {server.version} is too old",
            "LMOVE, COPY and RPOP with a count came with 6.2",
            "upgrade to 6.2 or later",
        )


def _memory(server: ServerInfo) -> Iterator[Finding]:
    if server.eviction_policy != "noeviction":
        has_evicted = f"; it has evicted {server.evicted_keys:,} keys" if server.evicted_keys else ""
        can_now = server.max_memory > 0
        yield Finding(
            Rank.CRITICAL if can_now else Rank.WARNING,
            f"Redis may throw jobs away: maxmemory-policy is {server.eviction_policy}{has_evicted}",
            "a queue is a key like any other: when memory is full, Redis drops whole queues"
            + ("" if can_now else " (no limit is set yet)"),
            "redis-cli CONFIG SET maxmemory-policy noeviction, and the same in its configuration",
        )
    share = server.used_memory / server.max_memory if server.max_memory else 0.0
    if share > NEARLY_FULL:
        yield Finding(
            Rank.CRITICAL if share > FULL else Rank.WARNING,
            f"memory is {share:.0%} full",
            "a full Redis refuses every push; running jobs still end",
            "raise maxmemory, or see what fills it: redis-cli --bigkeys",
        )


def _persistence(server: ServerInfo) -> Iterator[Finding]:
    if server.persistence_is_failing:
        yield Finding(
            Rank.CRITICAL,
            "Redis cannot save to disk",
            "by default it then refuses all writes, and a crash loses what was not saved",
            "read its log; is the disk full?",
        )
    if not server.has_append_only_file:
        yield Finding(
            Rank.WARNING,
            "no append-only file",
            f"a crash loses what came after the last snapshot, {span(server.seconds_since_snapshot)} ago",
            "redis-cli CONFIG SET appendonly yes, and the same in its configuration",
        )


def of_pulse(pulse: Pulse) -> Iterator[Finding]:
    """Distance and clocks."""
    median = pulse.median_seconds
    if median > SLOW_SECONDS:
        yield Finding(
            Rank.WARNING if median > VERY_SLOW_SECONDS else Rank.NOTE,
            f"a round trip to Redis takes {median * 1000:.0f} ms",
            "each job costs one at least; is it far away, or busy?",
            "redis-cli --latency, redis-cli SLOWLOG GET",
        )
    ahead = pulse.clock_ahead_seconds
    if abs(ahead) > SKEWED_SECONDS:
        direction = "ahead of" if ahead > 0 else "behind"
        yield Finding(
            Rank.WARNING,
            f"Redis's clock is {abs(ahead):.1f} s {direction} this machine's",
            "due times and ages are wrong by as much for whoever uses the other clock",
            "run NTP on both",
        )


def of_keyspace(keyspace: Keyspace, wrong_types: Mapping[str, str]) -> Iterator[Finding]:
    """Keys of a wrong type, and jobs under a prefix."""
    for key, kind in wrong_types.items():
        yield Finding(
            Rank.CRITICAL,
            f"the key {key!r} is a {kind}",
            "something else uses this database; Sidekiq and Stanchion fail on that key",
            f"redis-cli RENAME {key} {key}.aside, or use another database",
        )
    for namespace in keyspace.namespaces:
        yield Finding(
            Rank.WARNING,
            f"there are queues under the prefix {namespace}:",
            "redis-namespace, which Sidekiq 7 dropped; nothing of Stanchion looks under a prefix",
            "drain those queues, then remove redis-namespace from the Ruby side",
        )


def version_of(text: str) -> tuple[int, ...]:
    """`7.0.15` as numbers; words in it end it."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])
