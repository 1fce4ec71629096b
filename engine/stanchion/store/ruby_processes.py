"""Which Sidekiq versions are alive on this Redis, and so which dialect is written.

Workers look at every beat, clients at their first call and then once a minute. A record that cannot be read
belongs to nobody: garbage in it must hurt neither.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import redis
import redis.asyncio
from redis.exceptions import ResponseError

from stanchion.dialect import Dialect
from stanchion.store import keys

OUR_LABEL = "stanchion"
"""In `labels` of our own process records, which state a Sidekiq version without being Ruby."""

UNSTATED = "6.4"
"""Sidekiq 6 states no version (6.4.1 was seen); what 6 understands, an early 7 does too."""


class RubyProcesses:
    """The dialect by `wire` and what was last seen. A process states its version once: it is read once."""

    def __init__(self, wire: str) -> None:
        self.dialect = Dialect.of(wire)
        self.is_fixed = wire != "auto"
        self._versions: Mapping[bytes, str] = {}

    def refresh(self, client: redis.Redis) -> Dialect:
        """Look again. Raises redis-py's errors; what was last seen holds then."""
        if self.is_fixed:
            return self.dialect
        try:
            members: Any = client.smembers(keys.PROCESSES)
        except ResponseError:  # a key of another type in its place: nobody can be listed there
            members = set()
        unknown = self._unknown(members)
        with client.pipeline(transaction=False) as pipeline:
            for identity in unknown:
                pipeline.hget(identity, "info")
            infos = pipeline.execute(raise_on_error=False) if unknown else []
        return self._learn(members, unknown, infos)

    async def arefresh(self, client: redis.asyncio.Redis) -> Dialect:
        """As `refresh`, on an asyncio client."""
        if self.is_fixed:
            return self.dialect
        try:
            members: Any = await client.smembers(keys.PROCESSES)
        except ResponseError:  # as above
            members = set()
        unknown = self._unknown(members)
        async with client.pipeline(transaction=False) as pipeline:
            for identity in unknown:
                pipeline.hget(identity, "info")
            infos = await pipeline.execute(raise_on_error=False) if unknown else []
        return self._learn(members, unknown, infos)

    def _unknown(self, members: set[bytes]) -> list[bytes]:
        return sorted(members - self._versions.keys())

    def _learn(self, members: set[bytes], unknown: Sequence[bytes], infos: Sequence[Any]) -> Dialect:
        known = {identity: version for identity, version in self._versions.items() if identity in members}
        # A record without `info` is one whose process has gone: it is asked for again, not remembered.
        known |= {
            identity: ruby_version(info)
            for identity, info in zip(unknown, infos, strict=True)
            if isinstance(info, bytes)
        }
        self._versions = known
        self.dialect = Dialect.of("auto", known.values())
        return self.dialect


def ruby_version(info: bytes) -> str:
    """The version a Ruby process states in its `info`, or that of those which state none; empty for a record
    of ours and for what is no record.
    """
    try:
        fields = json.loads(info)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(fields, dict):
        return ""
    labels = fields.get("labels")
    if isinstance(labels, list) and OUR_LABEL in labels:
        return ""
    version = fields.get("version", UNSTATED if "hostname" in fields else "")
    return version if isinstance(version, str) else ""
