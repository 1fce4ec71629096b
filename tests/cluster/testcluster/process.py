"""A long-running process of the cluster, with its log."""

import subprocess
from collections.abc import Sequence

from testcluster.errors import ClusterError, log_tail
from testcluster.state import State


class Process:
    """One component. It is ended with all others by the state folder, never on its own."""

    def __init__(self, state: State, name: str, argv: Sequence[str]) -> None:
        self.name = name
        self.log = state.log(name)
        with self.log.open("a") as log:
            self.popen = subprocess.Popen(
                [*state.launcher, *argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=state.environment,
                # Ctrl-C in the terminal is for pytest; it stops the cluster in order.
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise ClusterError with the end of the log if the process has ended."""
        if (code := self.popen.poll()) is not None:
            raise ClusterError(f"{self.name} ended with exit {code}\n{log_tail(self.log)}")
