"""What a call becomes at push: its payload under the present configuration, and the verdict on the answer.

The client calls it for each call it sends. Pure: no clock, no Redis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from stanchion.call import Call
from stanchion.dialect import SIDEKIQ_7, Dialect
from stanchion.job import Job, new_jid, new_record
from stanchion.store.enqueue import EnqueueItem
from stanchion.verdict import Verdict

BUILT_IN_RETRIES = True


class QueueLimits(Protocol):
    """What the gate reads of a queue's policy."""

    @property
    def max_retries(self) -> int | None: ...


class View(Protocol):
    """The configuration as last read."""

    @property
    def epoch(self) -> str: ...

    def queue(self, name: str, /) -> QueueLimits | None: ...


@dataclass(frozen=True, slots=True)
class Intent:
    """One call on its way: its jid and times are chosen once and stay through every repeat."""

    call: Call
    jid: str
    created_at: float | int
    """As the dialect writes it; also the record's `enqueued_at`, where the job may start now."""
    due_at: float | None
    """When the job may start, epoch seconds; None for now."""
    more_fields: Mapping[str, Any]
    changed: Job | None = None
    """The record as client middleware has made it; None if there is none."""

    @classmethod
    def of(cls, call: Call, now: float, dialect: Dialect = SIDEKIQ_7) -> Intent:
        """The record of a call made at `now`, epoch seconds, under the caller's jid or a new one.

        A scheduled job has no `enqueued_at`: whoever promotes it sets it.
        """
        due_at = call.options.due_at(now)
        return cls(
            call,
            call.options.jid or new_jid(),
            dialect.timestamp(now),
            due_at,
            _more_fields(call, now if due_at is None else due_at),
        )

    @property
    def job(self) -> Job:
        """The record before the configuration has its say."""
        return self.changed or Job.parse(self.payload(BUILT_IN_RETRIES))

    def payload(self, retry: bool | int) -> bytes:
        """The record as it goes to Redis. Raises ValueError for what JSON cannot carry (middleware's)."""
        if self.changed is not None:
            return self.changed.replace(retry=retry).dump()
        call = self.call
        return new_record(
            call.name,
            call.args_json,
            queue=call.queue,
            jid=self.jid,
            retry=retry,
            created_at=self.created_at,
            enqueued_at=self.created_at if self.due_at is None else None,
            more=self.more_fields,
        )


def _more_fields(call: Call, due_at: float) -> Mapping[str, Any]:
    """What most calls do not have. `expires_at` counts from the time the job may start, epoch seconds."""
    more: dict[str, Any] = {}
    if call.options.tenant is not None:
        more["tenant"] = call.options.tenant
    more.update(call.wire_fields)
    if call.expires_in_seconds is not None:
        more["expires_at"] = due_at + call.expires_in_seconds
    if call.traceparent is not None:
        more["traceparent"] = call.traceparent
    return more


def plan(intents: Sequence[Intent], view: View) -> tuple[EnqueueItem, ...]:
    """What to push for these calls under the present configuration."""
    return tuple(
        EnqueueItem(
            jid=intent.jid,
            payload=intent.payload(retries(intent.call, view)),
            queue=intent.call.queue,
            due_at=intent.due_at,
            is_remembered=intent.call.options.jid is not None,
        )
        for intent in intents
    )


def retries(call: Call, view: View) -> bool | int:
    """The call's own, else the policy's, else the code's, else the built-in default."""
    if call.options.retries is not None:
        return call.options.retries
    policy = view.queue(call.queue)
    if policy is not None and policy.max_retries is not None:
        return policy.max_retries
    return BUILT_IN_RETRIES if call.retries is None else call.retries


def verdict(intent: Intent, answer: str) -> Verdict:
    """Read one answer of the enqueue script."""
    first, _, rest = answer.partition(":")
    match first:
        case "enqueued":
            return Verdict("enqueued", intent.jid)
        case "scheduled":
            return Verdict("scheduled", intent.jid, until=intent.due_at)
        case "known":
            status = verdict(intent, rest).status
            return Verdict(status, intent.jid, reason="already enqueued")
        case "failed":
            return Verdict("refused", intent.jid, reason=f"Redis answered: {rest}")
    raise AssertionError(f"enqueue.lua answered {answer!r}")
