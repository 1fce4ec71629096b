"""Which keys are of another type than they have to be: a stranger in the database. Reads only.

Called before a look into many keys, or by a verb that needs one, so that the error can name the key.
"""

from __future__ import annotations

from collections.abc import Mapping

import redis


def wrong_types(client: redis.Redis, wanted: Mapping[str, str]) -> dict[str, str]:
    """The keys that are there and are of another type, with that type."""
    with client.pipeline(transaction=False) as pipeline:
        for key in wanted:
            pipeline.type(key)
        replies = pipeline.execute() if wanted else []
    found = {key: reply.decode() for key, reply in zip(wanted, replies, strict=True)}
    return {key: kind for key, kind in found.items() if kind not in (wanted[key], "none")}
