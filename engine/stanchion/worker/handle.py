"""A child as its supervisor sees it: the process, the link, and what it last reported."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from stanchion.errors import CommandError
from stanchion.job import new_jid
from stanchion.metrics import Entry
from stanchion.worker.link import Link
from stanchion.worker.loaded import Loaded
from stanchion.worker.options import WorkerOptions


@dataclass(frozen=True, slots=True)
class Work:
    """A running job, as the web page shows it."""

    token: str
    queue: str
    started_at: float
    payload: str


class Handle:
    """One life of one child. `incarnation` names it in Redis."""

    def __init__(
        self, process: asyncio.subprocess.Process, link: Link, orders: AsyncIterator[dict[str, Any]]
    ) -> None:
        self.process = process
        self.incarnation = new_jid()
        self.slots = 0
        self.held: tuple[str, ...] = ()
        self.answered = 0
        self.work: tuple[Work, ...] = ()
        self.heard_at = time.monotonic()
        self.started_at = time.monotonic()
        self._link = link
        self._reports = orders

    @classmethod
    async def spawn(cls, options: WorkerOptions, index: int) -> Handle:
        """Start a child process. It does nothing until `begin`.

        Only from the main thread: the kernel's parent-death signal fires when the spawning *thread* ends.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            command = (sys.executable, "-m", "stanchion.worker.child", str(theirs.fileno()), str(os.getpid()))
            process = await asyncio.create_subprocess_exec(*command, pass_fds=(theirs.fileno(),))
        link = await Link.open(ours)
        link.send({"options": options.dump(), "index": index})
        return cls(process, link, link.messages())

    async def loaded(self) -> Loaded:
        """Wait until the child has the app; what it found there. Raises CommandError if it cannot."""
        async for report in self._reports:
            if "failed" in report:
                raise CommandError(report["failed"])
            return Loaded.load(report["loaded"])
        raise CommandError("a child process ended while it loaded the app; its last words are above")

    def begin(self, slots: int, *, is_quiet: bool) -> None:
        """Let it work, with so many slots; a quiet one takes no job."""
        self.slots = slots
        self._link.send({"incarnation": self.incarnation, "slots": slots, "quiet": is_quiet})

    def order(self, do: str, **details: Any) -> None:
        """Send an order: quiet, drain (seconds), look, slots (slots), speak (majors), dump."""
        self._link.send({"do": do, **details})

    def set_slots(self, slots: int) -> None:
        """Change how many jobs it runs at once."""
        self.slots = slots
        self.order("slots", slots=slots)

    @property
    def silent_seconds(self) -> float:
        """Since its last report: much more than the report interval means that a job hogs its loop."""
        return time.monotonic() - self.heard_at

    async def tallies(self) -> AsyncIterator[list[Entry]]:
        """Follow its reports until it hangs up; yields the numbers each brings."""
        async for report in self._reports:
            self.heard_at = time.monotonic()
            self.held = tuple(report["held"])
            self.answered = report["answered"]
            if "work" in report:
                self.work = tuple(Work(*work) for work in report["work"])
            yield report["tally"]

    async def ended(self) -> int:
        """The exit code, once the process has ended (negative: the signal that ended it)."""
        code = await self.process.wait()
        self._link.close()
        return code

    def kill(self) -> None:
        """End it at once; its jobs are returned afterwards."""
        if self.process.returncode is None:
            self.process.kill()
