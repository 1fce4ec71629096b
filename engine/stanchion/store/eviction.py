"""Whether a Redis short of memory may throw our keys away, which would be jobs lost without a trace.

Called by the supervisor when it begins. Only INFO is asked: CONFIG is often forbidden.
"""

from __future__ import annotations

from typing import Any

import redis.asyncio

SAFE_POLICY = "noeviction"


async def danger(client: redis.asyncio.Redis) -> str:
    """What may be lost and what to do, or nothing. Raises NoPermissionError where INFO is denied."""
    info: dict[str, Any] = await client.info("memory")
    return judge(str(info.get("maxmemory_policy", SAFE_POLICY)), int(info.get("maxmemory", 0)))


def judge(policy: str, max_memory: int) -> str:
    """`max_memory` in bytes; 0 is no limit, so that nothing is ever evicted."""
    if policy == SAFE_POLICY or max_memory == 0:
        return ""
    victims = (
        "the memory of enqueued calls and of recovered workers"
        if policy.startswith("volatile-")
        else "whole queues, with every job in them"
    )
    return (
        f"this Redis may evict {victims}: its maxmemory-policy is {policy}. "
        f"Set it to {SAFE_POLICY}, and give caches a Redis of their own"
    )
