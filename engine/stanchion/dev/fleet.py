"""The local workers of one queue policy: as many processes as wanted, started, drained and restarted.

`adjust` is called every tick and is level-triggered: it compares what runs with what is wanted. Whoever
ends without being asked is a crash and is replaced after a growing pause. It must never decide how many.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stanchion.dev import leash
from stanchion.dev.leash import WORKER_STAGE, Leash

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
HEALTHY_AFTER_SECONDS = 30.0
"""A worker that lived this long has started well: the next crash begins with a short pause again."""
KILL_AFTER_SECONDS = 5.0
"""What a worker may take beyond its drain time before it is killed."""

Log = Callable[[str, str], None]
"""Takes a worker's name and a line it printed (or that we have to say about it)."""


@dataclass(frozen=True, slots=True)
class WorkerCommand:
    """How a worker is started. `variables` are added to our own environment."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    drain_timeout_seconds: float = 25.0
    beats: bool = True
    """It registers in Redis under its process id once it takes jobs; a stranger's worker may not."""


@dataclass(slots=True, eq=False)
class LocalWorker:
    """One running worker; its process id is also its process group."""

    name: str
    process: asyncio.subprocess.Process
    started_at: float
    draining: bool = False


class Fleet:
    """Workers that all run the same command."""

    def __init__(self, name: str, command: WorkerCommand, holder: Leash, log: Log) -> None:
        self.name = name
        self.command = command
        self.wanted = 0
        self._leash = holder
        self._log = log
        self._workers: list[LocalWorker] = []
        self._watchers: set[asyncio.Task[None]] = set()
        self._crashes = 0
        self._no_start_before = 0.0
        self._started = 0

    @property
    def running(self) -> int:
        """Workers that take jobs: started and not draining."""
        return len(self._active())

    @property
    def draining(self) -> int:
        """Workers that finish what they hold and then go."""
        return len(self._workers) - self.running

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers that take jobs, oldest first."""
        return [worker.process.pid for worker in self._active()]

    async def adjust(self, busy_by_pid: Mapping[int, int]) -> None:
        """Start what is missing, unless a crash was just now; drain what is too many: idle ones
        first, and among equals the newest."""
        active = self._active()
        for _ in range(self.wanted - len(active)):
            if time.monotonic() < self._no_start_before:
                break
            await self._start()
        surplus = sorted(
            active, key=lambda worker: (busy_by_pid.get(worker.process.pid, 0), -worker.started_at)
        )
        for worker in surplus[: max(0, len(active) - self.wanted)]:
            self._drain(worker)

    async def replace(self, command: WorkerCommand) -> None:
        """From now on start `command`; whoever runs the old one drains."""
        self.command = command
        self._crashes, self._no_start_before = 0, 0.0
        for worker in self._active():
            self._drain(worker)

    async def drain(self) -> None:
        """Drain all; returns when the last has gone. Whoever overstays its drain time is killed."""
        self.wanted = 0
        for worker in self._active():
            self._drain(worker)
        if self._watchers:
            patience_seconds = self.command.drain_timeout_seconds + KILL_AFTER_SECONDS
            await asyncio.wait(self._watchers, timeout=patience_seconds)
        await self.kill()

    async def kill(self) -> None:
        """Kill all at once; their jobs come back from their leases."""
        self.wanted = 0
        for worker in self._workers:
            worker.draining = True
            leash.send(worker.process.pid, signal.SIGKILL)
        if self._watchers:
            await asyncio.wait(self._watchers)

    def _active(self) -> list[LocalWorker]:
        return [worker for worker in self._workers if not worker.draining]

    async def _start(self) -> None:
        self._started += 1
        name = f"{self.name}-{self._started}"
        try:
            process = await self._spawn()
        except OSError as error:  # the program has gone since it was named, or the system is full
            self._note_crash(name, f"did not start: {error}", lived_seconds=0.0)
            return
        self._leash.hold(process.pid, WORKER_STAGE)
        worker = LocalWorker(name, process, time.monotonic())
        self._workers.append(worker)
        watcher = asyncio.create_task(self._watch(worker))
        self._watchers.add(watcher)
        watcher.add_done_callback(self._watchers.discard)

    async def _spawn(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self.command.arguments,
            env={**os.environ, **self.command.variables},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            # Ctrl-C in the terminal is for us: we drain the workers in our own time.
            start_new_session=True,
        )

    def _drain(self, worker: LocalWorker) -> None:
        worker.draining = True
        with contextlib.suppress(ProcessLookupError):
            worker.process.send_signal(signal.SIGTERM)

    async def _watch(self, worker: LocalWorker) -> None:
        """Pass on what the worker prints; note when it ends and whether it was asked to."""
        output = worker.process.stdout
        while output is not None and (line := await _read_line(output)):
            self._log(worker.name, line.decode(errors="replace").rstrip())
        code = await worker.process.wait()
        # Children of a worker that died alone must not run on unseen.
        leash.send(worker.process.pid, signal.SIGKILL)
        self._leash.release(worker.process.pid)
        self._workers.remove(worker)
        if not worker.draining:
            how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
            self._note_crash(worker.name, f"ended with {how}", time.monotonic() - worker.started_at)

    def _note_crash(self, name: str, how: str, lived_seconds: float) -> None:
        self._crashes = 1 if lived_seconds > HEALTHY_AFTER_SECONDS else self._crashes + 1
        pause_seconds = min(FIRST_PAUSE_SECONDS * 2 ** (self._crashes - 1), LONGEST_PAUSE_SECONDS)
        self._no_start_before = time.monotonic() + pause_seconds
        self._log(name, f"{how}; the next starts in {pause_seconds:.0f} s")


async def _read_line(output: asyncio.StreamReader) -> bytes:
    """The next line, b"" at the end. A line beyond the reader's limit is shown cut."""
    try:
        return await output.readline()
    except ValueError:
        return b"(a line too long to show)\n"
