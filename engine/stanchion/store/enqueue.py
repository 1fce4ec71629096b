"""The typed call over enqueue.lua: lays out its keys and arguments, reads its reply. Holds no policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stanchion.store import keys
from stanchion.store.script import Argument, AsyncClient, Client, Key, Script

SCRIPT = Script("enqueue")
LANE_SECONDS = 3600
"""How long a lane's last answers are kept: far longer than any client repeats a call."""


@dataclass(frozen=True, slots=True)
class EnqueueItem:
    """One job to push. `due_at` in epoch seconds puts it in the schedule instead of its list."""

    jid: str
    payload: bytes
    queue: str
    due_at: float | None
    is_remembered: bool
    """Whether the caller chose the jid, so that a second call with it is answered like the first."""


@dataclass(frozen=True, slots=True)
class EnqueueRequest:
    """One call of one lane."""

    lane: str
    number: int
    epoch: str
    items: tuple[EnqueueItem, ...]
    jid_memory_seconds: int

    def keys(self) -> list[Key]:
        """KEYS of enqueue.lua."""
        laid: list[Key] = [keys.lane(self.lane), keys.CONFIG_EPOCH, keys.QUEUES, keys.SCHEDULE]
        for item in self.items:
            laid += (keys.queue(item.queue), keys.counters(item.queue), keys.remembered_jid(item.jid))
        return laid

    def args(self) -> list[Argument]:
        """ARGV of enqueue.lua."""
        laid: list[Argument] = [self.number, self.epoch, LANE_SECONDS, self.jid_memory_seconds]
        for item in self.items:
            due = "" if item.due_at is None else repr(item.due_at)
            laid += (item.jid, item.payload, due, item.queue, "1" if item.is_remembered else "")
        return laid


@dataclass(frozen=True, slots=True)
class Recorded:
    """The call is in Redis: one answer for each item, now or from an earlier sending."""

    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reconfig:
    """The caller's configuration is not the present one; nothing was written."""


@dataclass(frozen=True, slots=True)
class LaneTaken:
    """Somebody else used this lane (STALE or CLASH); nothing was written."""


Reply = Recorded | Reconfig | LaneTaken


def enqueue(client: Client, request: EnqueueRequest) -> Reply:
    """Run the script on a blocking client. Raises redis-py's errors."""
    return _read(SCRIPT.run(client, request.keys(), request.args()))


async def aenqueue(client: AsyncClient, request: EnqueueRequest) -> Reply:
    """Run the script on an asyncio client. Raises redis-py's errors."""
    return _read(await SCRIPT.arun(client, request.keys(), request.args()))


def _read(reply: list[Any]) -> Reply:
    match reply:
        case [b"DONE", bytes() as answers]:
            return Recorded(tuple(answers.decode().split(",")))
        case [b"RECONFIG", _]:
            return Reconfig()
        case [b"STALE", _] | [b"CLASH"]:
            return LaneTaken()
    raise AssertionError(f"enqueue.lua answered {reply!r}")
