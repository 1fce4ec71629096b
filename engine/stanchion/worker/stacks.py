"""What a process is doing, on stderr: the answer to TTIN."""

from __future__ import annotations

import asyncio
import faulthandler
import sys
from types import CoroutineType
from typing import Any


def dump() -> None:
    """Print the stacks of all threads and of every task, down to what each waits for."""
    faulthandler.dump_traceback(all_threads=True)
    for task in asyncio.all_tasks():
        sys.stderr.write(f"Task {task.get_name()}\n")
        awaited: Any = task.get_coro()
        while isinstance(awaited, CoroutineType):
            frame, awaited = awaited.cr_frame, awaited.cr_await
            if frame is not None:
                code = frame.f_code
                sys.stderr.write(
                    f'  File "{code.co_filename}", line {frame.f_lineno} in {code.co_qualname}\n'
                )
    sys.stderr.flush()
