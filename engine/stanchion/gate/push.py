"""What a call becomes at push: its payload under the present configuration, and the verdict on the answer.

The client calls it for each call it sends. Pure: no clock, no Redis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from stanchion.call import Call
from stanchion.job import Job, new_jid
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
    """One call on its way: its jid and time are chosen once and stay through every repeat."""

    call: Call
    jid: str
    now: float
    """When the caller made the call, epoch seconds."""

    @classmethod
    def of(cls, call: Call, now: float) -> Intent:
        """Takes the caller's jid, or makes one."""
        return cls(call, call.options.jid or new_jid(), now)

    @property
    def due_at(self) -> float | None:
        """When the job may start, epoch seconds; None for now."""
        return self.call.options.due_at(self.now)


def plan(intents: Sequence[Intent], view: View) -> tuple[EnqueueItem, ...]:
    """What to push for these calls."""
    return tuple(
        EnqueueItem(
            jid=intent.jid,
            payload=record(intent, view).dump(),
            queue=intent.call.queue,
            due_at=intent.due_at,
            is_remembered=intent.call.options.jid is not None,
        )
        for intent in intents
    )


def record(intent: Intent, view: View) -> Job:
    """The payload. A scheduled job has no `enqueued_at`: whoever promotes it sets it."""
    job = Job.create(
        intent.call.name,
        intent.call.args,
        queue=intent.call.queue,
        jid=intent.jid,
        retry=retries(intent.call, view),
        now=intent.now,
        tenant=intent.call.options.tenant,
    )
    return job if intent.due_at is not None else job.replace(enqueued_at=intent.now)


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
