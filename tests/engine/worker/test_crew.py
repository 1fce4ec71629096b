"""Why a child ended, in words."""

from __future__ import annotations

import signal

import pytest

from stanchion.worker import exit_codes
from stanchion.worker.crew import describe, end_reason


@pytest.mark.parametrize(
    ("code", "is_stopping", "reason"),
    [
        (exit_codes.DONE, False, "died"),
        (exit_codes.DONE, True, "drained"),
        (exit_codes.FENCED, False, "fenced"),
        (exit_codes.NOT_LOADED, False, "not_loaded"),
        (-signal.SIGKILL, False, "died"),
        (-signal.SIGKILL, True, "drained"),
    ],
)
def test_end_reason(code: int, is_stopping: bool, reason: str) -> None:
    assert end_reason(code, is_stopping=is_stopping) == reason


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "exit code 1"),
        (-9, "killed by SIGKILL (out of memory?)"),
        (-11, "killed by SIGSEGV"),
        (-63, "killed by 63"),
    ],
)
def test_describe(code: int, words: str) -> None:
    assert describe(code) == words
