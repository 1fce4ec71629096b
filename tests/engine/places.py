"""Where every job in a Redis is, seen at one instant."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import redis

SNAPSHOT = """
-- KEYS none. ARGV none. Returns place, jid, place, jid, …: every job in every place, in one instant.
local found = {}
local function note(place, payload)
  found[#found + 1] = place
  found[#found + 1] = string.match(payload, '"jid":"([^"]+)"') or payload
end
for _, kind in ipairs({'queue:*', 'stanchion:inbox:*'}) do
  for _, key in ipairs(redis.call('KEYS', kind)) do
    for _, payload in ipairs(redis.call('LRANGE', key, 0, -1)) do note(key, payload) end
  end
end
for _, key in ipairs(redis.call('KEYS', 'stanchion:lease:*')) do
  for _, value in ipairs(redis.call('HVALS', key)) do note(key, string.match(value, '^[^|]*|%d+|(.*)$')) end
end
for _, key in ipairs({'schedule', 'retry', 'dead'}) do
  for _, payload in ipairs(redis.call('ZRANGE', key, 0, -1)) do note(key, payload) end
end
return found
"""


def places(client: redis.Redis) -> dict[str, list[str]]:
    """The key, or keys, that hold each job, by jid."""
    flat: Any = client.eval(SNAPSHOT, 0)
    held: defaultdict[str, list[str]] = defaultdict(list)
    for place, jid in zip(flat[::2], flat[1::2], strict=True):
        held[jid.decode()].append(place.decode())
    return dict(held)


def in_two_places(held: dict[str, list[str]]) -> dict[str, list[str]]:
    """Those jobs that are in more than one place, which must be none."""
    return {jid: keys for jid, keys in held.items() if len(keys) > 1}
