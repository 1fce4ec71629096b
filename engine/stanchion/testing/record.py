"""Records calls instead of sending them, so that a test can look at what would have been enqueued."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from stanchion.app import App
from stanchion.call import Call
from stanchion.job import new_jid
from stanchion.verdict import Verdict


@contextmanager
def record(app: App) -> Iterator[list[Call]]:
    """Inside the block nothing of this App reaches Redis; its calls are appended to the list given.

    Arguments and options are checked as ever, and every call is accepted.
    """
    recorder = _Recorder()
    with app.delivered_by(recorder):
        yield recorder.calls


class _Recorder:
    def __init__(self) -> None:
        self.calls: list[Call] = []

    def push(self, call: Call) -> Verdict:
        self.calls.append(call)
        due_at = call.options.due_at(time.time())
        jid = call.options.jid or new_jid()
        return Verdict("enqueued" if due_at is None else "scheduled", jid, until=due_at)

    async def apush(self, call: Call) -> Verdict:
        return self.push(call)

    def push_many(self, calls: Iterable[Call]) -> list[Verdict]:
        return [self.push(call) for call in calls]

    async def apush_many(self, calls: Iterable[Call]) -> list[Verdict]:
        return self.push_many(calls)

    def close(self) -> None:
        """Nothing is open."""

    async def aclose(self) -> None:
        """Nothing is open."""
