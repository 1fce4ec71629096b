"""The pytest plugin: one cluster of each size for the whole run, shared by all tests that ask for it.

What takes minutes the first time is built before the first test, so that no test's time-out meets it.
"""

from collections.abc import Iterator
from typing import TypeVar

import pytest

from testcluster.cluster import Cluster, NodeCluster, prepare
from testcluster.errors import ClusterError
from testcluster.state import State

Kind = TypeVar("Kind", bound=Cluster)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build what the selected tests need."""
    wanted = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    if session.config.option.collectonly or not wanted & {"control_plane", "node_cluster"}:
        return
    if reporter := session.config.pluginmanager.get_plugin("terminalreporter"):
        reporter.write_line("building what the test cluster's cache lacks (minutes the first time) …")
    try:
        prepare(with_node="node_cluster" in wanted)
    except ClusterError as error:
        raise pytest.UsageError(f"the test cluster cannot be built: {error}") from error


@pytest.fixture(scope="session")
def control_plane() -> Iterator[Cluster]:
    """The control plane on loopback (tier `api`)."""
    yield from _running(Cluster, "control-plane")


@pytest.fixture(scope="session")
def node_cluster() -> Iterator[NodeCluster]:
    """A cluster with a node (tier `node`)."""
    yield from _running(NodeCluster, "node")


def _running(kind: type[Kind], name: str) -> Iterator[Kind]:
    state = State.of_this_process(name)
    try:
        cluster = kind(state)
        cluster.start()
        yield cluster
    finally:
        state.remove()
