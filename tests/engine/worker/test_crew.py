"""Why a child ended, in words, and when its successor may start."""

from __future__ import annotations

import signal
from random import Random

import pytest

from stanchion.worker import exit_codes
from stanchion.worker.crew import describe, end_reason, restart_pause_seconds


@pytest.mark.parametrize(
    ("failures", "longest"),
    [(0, 0.0), (1, 0.0), (2, 0.8), (3, 1.6), (4, 3.2), (7, 25.6), (8, 30.0), (99, 30.0)],
)
def test_successors_start_at_once_then_ever_later(failures: int, longest: float) -> None:
    pauses = [restart_pause_seconds(failures, Random(seed)) for seed in range(20)]
    assert longest / 2 <= min(pauses) <= max(pauses) <= longest


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
