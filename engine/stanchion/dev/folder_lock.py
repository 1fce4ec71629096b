"""One folder serves one server at a time: a lock on its file `owner`, which holds the owner's pid.

Called by `redis_server`, whose Redis inherits the open file: the lock holds until Redis itself has gone, even
when its parent was killed.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from stanchion.dev.leash import GRACE_SECONDS
from stanchion.errors import InvalidSettings

STOP_TIMEOUT_SECONDS = 10.0
"""What a Redis may take to save its data and end."""
DEPARTURE_SECONDS = 0.5
"""An owner that was just killed still counts as alive until its parent has heard of it."""
POLL_SECONDS = 0.02


def lock(folder: Path, tell: Callable[[str], None]) -> IO[str]:
    """The open, locked file. `tell` hears of a wait for what a killed owner left running.

    Raises InvalidSettings, naming the other pid, if the folder stays in use.
    """
    file = (folder / "owner").open("a+", encoding="ascii")
    began = time.monotonic()
    told = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip()
            # A living owner keeps the folder; a killed one only until its workers and its Redis have ended.
            alive = owner.isdigit() and _is_alive(int(owner))
            patience = DEPARTURE_SECONDS if alive else GRACE_SECONDS + STOP_TIMEOUT_SECONDS
            if time.monotonic() - began > patience:
                file.close()
                who = f"another instance (pid {owner})" if alive else "what a killed instance left running"
                raise InvalidSettings(
                    f"{folder} is in use by {who}: end that first, or start in another folder"
                ) from None
            if not alive and not told:
                tell("the last run was killed; waiting until its workers and its Redis have ended")
                told = True
            time.sleep(POLL_SECONDS)
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
