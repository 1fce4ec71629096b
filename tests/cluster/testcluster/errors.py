"""What went wrong with the cluster, and the log that explains it."""

from pathlib import Path


class ClusterError(Exception):
    """The cluster, or a command against it, failed; the message says what to look at."""


class TimedOut(ClusterError):
    """What was waited for did not come in time."""


def log_tail(log: Path, lines: int = 15) -> str:
    """The end of a component's log, headed by its path, for an error message."""
    if not log.exists():
        return f"({log} was never written)"
    text = log.read_text(errors="replace").splitlines()[-lines:]
    return "\n".join([f"--- the end of {log}", *text])
