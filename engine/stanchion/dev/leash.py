"""Ends our child processes when we are gone: nothing is orphaned, even after SIGKILL.

A `Leash` starts a small watcher in a session of its own and tells it, over a pipe, which process groups
live. When the pipe closes – we exited or were killed – the watcher ends what is left: TERM first, so that
workers drain, then KILL. Groups of a higher stage go first: workers (stage 1) still need Redis (stage 0).
The watcher is this file run as a script; it imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import IO

REDIS_STAGE = 0
WORKER_STAGE = 1
GRACE_SECONDS = 30.0
POLL_SECONDS = 0.1


class Leash:
    """Holds process groups. `close` lets go of the watcher, which then ends whatever is still held."""

    def __init__(self, grace_seconds: float = GRACE_SECONDS) -> None:
        self._watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(grace_seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def hold(self, group: int, stage: int) -> None:
        """End this process group when we are gone."""
        self._tell(f"hold {group} {stage}")

    def release(self, group: int) -> None:
        """This process group has ended by itself; its number may be used again by a stranger."""
        self._tell(f"release {group}")

    def close(self) -> None:
        """Let go. Returns when everything held has ended; at once if nothing was."""
        if self._watcher.stdin is not None and not self._watcher.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._watcher.stdin.close()
            self._watcher.wait()

    def _tell(self, line: str) -> None:
        pipe = self._watcher.stdin
        if pipe is None or pipe.closed:
            raise RuntimeError("the leash is closed")
        # A watcher that somebody killed must not stop the run: it is a second line, behind our own clean-up.
        with contextlib.suppress(BrokenPipeError):
            pipe.write(f"{line}\n".encode())
            pipe.flush()


def watch(pipe: IO[str], grace_seconds: float) -> None:
    """The watcher: note what is held until the pipe closes, then end it, stage by stage."""
    held: dict[int, int] = {}
    for line in pipe:
        command, *numbers = line.split()
        if command == "hold":
            group, stage = map(int, numbers)
            held[group] = stage
        else:
            held.pop(int(numbers[0]), None)
    for stage in sorted(set(held.values()), reverse=True):
        end([group for group, at in held.items() if at == stage], grace_seconds)


def end(groups: Iterable[int], grace_seconds: float) -> None:
    """TERM these process groups, wait until they are gone, KILL what is left after the grace."""
    alive = [group for group in groups if send(group, signal.SIGTERM)]
    deadline = time.monotonic() + grace_seconds
    while alive and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        alive = [group for group in alive if send(group, 0)]
    for group in alive:
        send(group, signal.SIGKILL)


def send(group: int, number: int) -> bool:
    """Signal a process group; False if it is gone."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS says EPERM for a group of zombies
        return False
    return True


if __name__ == "__main__":
    watch(sys.stdin, float(sys.argv[1]))
