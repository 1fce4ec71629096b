"""Makes Redis hold the config hashes of the declaration, and puts back what it forgets or a hand changes.

Called by the runner: `write` at the start and at every reload, `keep` in the background. Who owns a hash is
decided in Redis, by the same scripts that the operator uses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import redis.asyncio
from redis.exceptions import RedisError

from stanchion.admin.apply import Applied, apply
from stanchion.policy.contract import Config

MANAGED_BY = "dev"
RESYNC_SECONDS = 30.0
"""As the operator's."""

Tell = Callable[[str, str], None]
"""Takes an index entry (`queue/imports`) and a sentence about it."""


class ConfigKeeper:
    """The config of one run."""

    def __init__(self, client: redis.asyncio.Redis, tell: Tell, alarm: Tell) -> None:
        self._client = client
        self._tell = tell
        self._alarm = alarm
        self._policies: Sequence[Config] = ()
        self._refused: dict[str, str] = {}
        self._turn = asyncio.Lock()

    async def write(self, policies: Sequence[Config]) -> None:
        """Make Redis hold these and no others of ours. Raises redis-py's errors and CommandError; then the
        former ones are kept."""
        async with self._turn:
            for each in await self._apply(policies):
                self._note_refusal(each)
            self._policies = policies

    async def keep(self, every_seconds: float = RESYNC_SECONDS) -> None:
        """Until cancelled: look now and then, and say what had to be put back."""
        while True:
            await asyncio.sleep(every_seconds)
            with suppress(RedisError):  # a Redis that is away is told by the groups
                async with self._turn:
                    for each in await self._apply(self._policies):
                        self._note_refusal(each)
                        if each.result.in_redis and each.result.outcome != "unchanged":
                            self._tell(each.entry, "was lost or changed by another hand; it is back")

    async def _apply(self, policies: Sequence[Config]) -> Sequence[Applied]:
        outcome = await apply(
            self._client, policies, now=datetime.now(UTC), managed_by=MANAGED_BY, prune=True
        )
        return outcome.applied

    def _note_refusal(self, applied: Applied) -> None:
        """Say it once for each owner in the way, not at every look."""
        owner = applied.result.owner or "another"
        if applied.result.in_redis:
            self._refused.pop(applied.entry, None)
        elif self._refused.get(applied.entry) != owner:
            self._refused[applied.entry] = owner
            self._alarm(applied.entry, f"was not written ({applied.result.outcome}: {owner} owns it)")
