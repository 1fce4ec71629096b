"""Running a command to its end, with an error that can be acted on."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from testcluster.errors import ClusterError

OUTPUT_SHOWN_CHARACTERS = 3_000

ISOLATED = (
    *("setpriv", "--pdeathsig=KILL", "--"),
    *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"),
)
"""Put before a command that mounts things: all it mounts and starts ends with it, or with us. Needs root."""


def run(
    argv: Sequence[str],
    *,
    input: str | None = None,  # noqa: A002 - subprocess's own word
    check: bool = True,
    timeout_seconds: float = 120,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `argv` and return its output; raises ClusterError if it fails (unless not `check`) or hangs."""
    shown = " ".join(argv[:12])
    try:
        done = subprocess.run(
            argv,
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            cwd=cwd,
            env=env,
            check=False,
        )
    except FileNotFoundError as error:
        raise ClusterError(f"{argv[0]} is not installed (wanted for: {shown})") from error
    except subprocess.TimeoutExpired as error:
        raise ClusterError(f"no end after {timeout_seconds:g} s: {shown}") from error
    if check and done.returncode != 0:
        output = (done.stdout + done.stderr).strip()[-OUTPUT_SHOWN_CHARACTERS:]
        raise ClusterError(f"exit {done.returncode} from: {shown}\n{output}")
    return done
