"""Nothing of a cluster outlives it: not after a stop, and not after the run that started it was killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testcluster import cache
from testcluster.cluster import Cluster
from testcluster.state import CONTROL_GROUPS, State

HERE = Path(__file__).parent

START_AND_HANG = """
import signal
from testcluster.cluster import Cluster, NodeCluster
from testcluster.state import State
state = State.of_this_process("killed")
{kind}(state).start()
print(state.root, flush=True)
signal.pause()
"""


def killed_run(kind: str) -> State:
    """Start a cluster in a process of its own and kill that process without warning."""
    program = [sys.executable, "-c", START_AND_HANG.format(kind=kind)]
    env = {**os.environ, "PYTHONPATH": str(HERE)}
    with subprocess.Popen(program, env=env, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        root = run.stdout.readline().strip()
        assert root, "the cluster did not start"
        run.send_signal(signal.SIGKILL)
    return State(Path(root))


def mounts_under(root: Path) -> list[str]:
    return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(root) in line]


def network_namespaces() -> set[str]:
    return {str(p) for folder in ("/run/netns", "/var/run/netns") for p in Path(folder).glob("*")}


@pytest.mark.api
def test_a_stopped_control_plane_leaves_nothing(control_plane: Cluster) -> None:
    state = State.of_this_process("stopped")
    cluster = Cluster(state)
    cluster.start()
    assert len(state.processes()) == 4
    cluster.stop()
    assert state.processes() == []
    assert not state.root.exists()


@pytest.mark.api
def test_a_killed_run_is_cleaned_by_the_next(control_plane: Cluster) -> None:
    left = killed_run("Cluster")
    State.of_this_process("next").remove()
    assert left.processes() == []
    assert not left.root.exists()
    assert control_plane.kubectl("get", "--raw=/readyz").stdout == "ok"


@pytest.mark.node
@pytest.mark.usefixtures("node_cluster")
def test_a_killed_run_with_a_node_is_cleaned_by_the_next() -> None:
    before = network_namespaces()
    left = killed_run("NodeCluster")
    State.of_this_process("next").remove()
    assert left.processes() == []
    assert not left.root.exists()
    assert mounts_under(left.root) == []
    assert network_namespaces() == before
    assert not list(CONTROL_GROUPS.rglob(left.control_group))


def test_a_folder_in_use_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    in_use = State.of_this_process("one")
    second = State.of_this_process("two")
    assert in_use.root.exists()
    in_use.remove()
    second.remove()
    assert list((cache.folder() / "runs").glob("[0-9]*")) == []
