"""The Lease: which of several operators may write, and until when by our own monotonic clock.

Holding the Lease is not enough: a paused process wakes up believing it still leads. So every write asks
`check` first, which compares with the moment of the last renewal *before it was sent*, less the longest
a request may take.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stanchion_operator.errors import ApiError, NotLeading
from stanchion_operator.kube.client import REQUEST_TIMEOUT_SECONDS, Api
from stanchion_operator.kube.paths import LEASE, Key, collection

logger = logging.getLogger(__name__)

DURATION_SECONDS = 15
RETRY_SECONDS = 2.0
CLOCK_SLACK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Seen:
    """The Lease as last read, and when by our clock it last changed: other clocks are never compared."""

    holder: str
    renew_time: str
    duration_seconds: float
    transitions: int
    changed_at: float

    def may_be_taken(self, identity: str, now: float) -> bool:
        """Released, ours, or unchanged for as long as its holder asked for."""
        return self.holder in ("", identity) or now >= self.changed_at + self.duration_seconds


def observe(before: Seen | None, spec: dict[str, Any], now: float) -> Seen:
    """What a fresh read says; `changed_at` moves only if the holder has renewed since `before`."""
    holder, renew_time = spec.get("holderIdentity") or "", spec.get("renewTime") or ""
    unchanged = before is not None and (before.holder, before.renew_time) == (holder, renew_time)
    return Seen(
        holder=holder,
        renew_time=renew_time,
        duration_seconds=float(spec.get("leaseDurationSeconds") or DURATION_SECONDS),
        transitions=int(spec.get("leaseTransitions") or 0),
        changed_at=before.changed_at if before is not None and unchanged else now,
    )


def first_transition(now: float) -> int:
    """Where a Lease that is made anew starts to count: the minutes since 1970.

    The count fences writes to Redis, which remembers the highest; so it must not fall when somebody
    deletes the Lease. `now` is in epoch seconds.
    """
    return int(now // 60)


class Lease:
    """One candidate. `acquire` once, then `hold` in a task until it ends; `release` on the way out."""

    def __init__(
        self, api: Api, namespace: str, name: str, identity: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._api, self._clock = api, clock
        self._key = Key(LEASE, namespace, name)
        self._identity = identity
        self._seen: Seen | None = None
        self._renewed_at: float | None = None
        self.transitions = 0
        """How often the Lease has changed hands: the fence that goes with every write to Redis."""

    @property
    def leading(self) -> bool:
        """Whether a write that starts now ends while the Lease is certainly ours."""
        return self._renewed_at is not None and self._clock() < (
            self._renewed_at + DURATION_SECONDS - REQUEST_TIMEOUT_SECONDS - CLOCK_SLACK_SECONDS
        )

    def check(self) -> None:
        """Raises NotLeading unless a write may be sent now."""
        if not self.leading:
            raise NotLeading(f"the Lease {self._key.namespace}/{self._key.name} is not certainly ours")

    async def acquire(self) -> None:
        """Wait until the Lease is ours."""
        while True:
            if await self._try():
                break
            await asyncio.sleep(RETRY_SECONDS)
        logger.info("leading, transition %d", self.transitions)

    async def hold(self) -> None:
        """Renew for ever. Raises NotLeading as soon as the Lease is lost or may have been."""
        while True:
            await asyncio.sleep(RETRY_SECONDS)
            if not await self._try():
                self.check()

    async def release(self) -> None:
        """Give the Lease up, so that a successor need not wait for it to lapse."""
        if not self.leading:
            return
        self._renewed_at = None
        with suppress(ApiError):
            stored = await self._api.request("GET", self._key.path)
            if stored["spec"].get("holderIdentity") == self._identity:
                stored["spec"] |= {"holderIdentity": "", "leaseDurationSeconds": 1}
                await self._api.request("PUT", self._key.path, body=stored)

    async def _try(self) -> bool:
        """Take or renew. False if somebody else has it, or if the API server did not answer."""
        sent_at = self._clock()
        try:
            stored = await self._read()
            self._seen = observe(self._seen, stored["spec"], self._clock())
            if not self._seen.may_be_taken(self._identity, self._clock()):
                self._renewed_at = None
                return False
            await self._write(stored, self._seen)
        except ApiError as error:
            logger.warning("lease: %s", error)
            return False
        self._renewed_at = sent_at
        return True

    async def _read(self) -> dict[str, Any]:
        try:
            return await self._api.request("GET", self._key.path)
        except ApiError as error:
            if error.status != 404:
                raise
        metadata = {"name": self._key.name, "namespace": self._key.namespace}
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": LEASE,
            "metadata": metadata,
            "spec": {"leaseTransitions": first_transition(time.time())},
        }
        return await self._api.request("POST", collection(LEASE, self._key.namespace), body=body)

    async def _write(self, stored: dict[str, Any], seen: Seen) -> None:
        """Refused with 409 if anybody has written since the read: the resourceVersion rides along."""
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        spec = dict(stored["spec"])
        transitions = seen.transitions
        if seen.holder != self._identity:
            transitions += 1
            spec |= {"acquireTime": now, "leaseTransitions": transitions}
        spec |= {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": DURATION_SECONDS,
            "renewTime": now,
        }
        await self._api.request("PUT", self._key.path, body=stored | {"spec": spec})
        self._seen = observe(self._seen, spec, self._clock())
        self.transitions = transitions
