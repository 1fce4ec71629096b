"""A cluster's state folder, and the promise that nothing of the cluster outlives it.

Every process of a cluster carries the folder's path in its environment, so whoever holds the path can
find and end them all, also after the run that started them was killed. Everything else a node makes
(mounts, network, containers) lives in Linux namespaces that end with their first process; the control
groups of its containers are named after the folder.
"""

import fcntl
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

from testcluster import cache
from testcluster.waiting import wait_until

MARKER = "STANCHION_TESTCLUSTER_STATE"
CONTROL_GROUPS = Path("/sys/fs/cgroup")


class State:
    """One cluster's folder: logs, data, credentials.

    `launcher` is put before every process's command.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.control_group = f"stanchion-{cache.digest(str(root))}"
        self.launcher: tuple[str, ...] = ()
        self._lock: int | None = None

    @classmethod
    def of_this_process(cls, name: str) -> "State":
        """A new folder that counts as abandoned as soon as this process ends; abandoned ones are removed."""
        runs = cache.folder() / "runs"
        with cache.locked(runs / ".lock"):  # else a folder could be swept before it is marked as in use
            for left in runs.glob("[0-9]*"):
                cls(left).remove_if_abandoned()
            state = cls(runs / f"{os.getpid()}-{name}")
            state.create()
            state._take_lock()
        # Without waiting for the next run: a killed run's memory is wanted now.
        state.launcher = ("setpriv", "--pdeathsig=KILL", "--")
        return state

    @property
    def environment(self) -> dict[str, str]:
        """What every process of this cluster must be started with."""
        return {**os.environ, MARKER: str(self.root)}

    def log(self, component: str) -> Path:
        """The log file of a component."""
        return self.root / "logs" / f"{component}.log"

    def create(self) -> None:
        """Make the folder; raises FileExistsError if there is one."""
        self.root.mkdir(parents=True)
        (self.root / "logs").mkdir()

    def processes(self) -> list[int]:
        """The pids of all living processes of this cluster."""
        mark = f"{MARKER}={self.root}".encode()
        found = []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            # A process of somebody else, or one that ended while we looked.
            with suppress(OSError):
                if mark in environment.read_bytes().split(b"\0"):
                    found.append(int(environment.parent.name))
        return found

    def remove(self) -> None:
        """End every process, then remove control groups and the folder. Safe to call at any time."""
        wait_until(self._kill_all, f"the processes of {self.root} to end", timeout_seconds=30)
        wait_until(
            self._remove_control_groups, f"the control groups {self.control_group}", timeout_seconds=10
        )
        shutil.rmtree(self.root)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def remove_if_abandoned(self) -> None:
        """Remove what a killed run left; leave the folder alone while its run lives."""
        if self._take_lock():
            self.remove()

    def _kill_all(self) -> bool:
        """Kill what lives; true once nothing does."""
        living = self.processes()
        for pid in living:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not living

    def _remove_control_groups(self) -> bool:
        """True once no control group of ours is left; the kernel refuses while a process is still ending."""
        roots = [CONTROL_GROUPS / self.control_group, *CONTROL_GROUPS.glob(f"*/{self.control_group}")]
        left = [group for root in roots if root.exists() for group in [root, *root.rglob("*/")]]
        for group in sorted(left, key=lambda g: len(g.parts), reverse=True):
            with suppress(OSError):
                group.rmdir()
        return not any(root.exists() for root in roots)

    def _take_lock(self) -> bool:
        """The lock says that the folder's run lives; the kernel drops it when that process dies."""
        try:
            lock = os.open(self.root / "run.lock", os.O_CREAT | os.O_RDWR)
        except FileNotFoundError:  # another run has just removed this folder
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        self._lock = lock
        return True
