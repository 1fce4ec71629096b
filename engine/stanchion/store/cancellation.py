"""Asks whoever runs a job to end it early. Called by `stanchion job cancel`.

A word to the workers that listen, not a record: a job that waits is deleted instead.
"""

from __future__ import annotations

import redis

from stanchion.store import keys


def ask(client: redis.Redis, jid: str) -> None:
    """Tell every worker; the one that runs the job passes it on."""
    client.publish(keys.CANCEL_CHANNEL, jid)
