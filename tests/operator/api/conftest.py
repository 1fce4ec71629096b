"""A control plane with our CRDs, and the operator as a process beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from rig.operator_process import OperatorProcess
from rig.shop import PATIENCE_SECONDS, Shop, open_shop
from stanchion.dev.redis_server import RedisServer
from testcluster.cluster import Cluster
from waiting import until

CRDS = Path(__file__).parents[3] / "crds"


@pytest.fixture(scope="session")
def crds(control_plane: Cluster) -> Cluster:
    """The control plane, once it serves our three kinds."""
    for path in sorted(CRDS.glob("*.yaml")):
        control_plane.kubectl("apply", "--server-side", "--filename", str(path))
    control_plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    return control_plane


@pytest.fixture(scope="module")
def operator(crds: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OperatorProcess]:
    """The operator that the tests of one file share: cluster-wide, in namespace default."""
    log = tmp_path_factory.mktemp("operator") / "log"
    with OperatorProcess(crds.kubeconfig, log) as process:
        until(process.is_leading, timeout_seconds=PATIENCE_SECONDS)
        yield process


@pytest.fixture
def shop(crds: Cluster, redis_server: RedisServer) -> Iterator[Shop]:
    """A namespace on the Redis that all tests share."""
    with open_shop(crds, redis_server.url) as made:
        yield made


@pytest.fixture
def shop_on_own_redis(crds: Cluster, tmp_path: Path) -> Iterator[tuple[Shop, RedisServer]]:
    """A namespace on a Redis that the test may empty and stop."""
    with RedisServer(tmp_path) as server, open_shop(crds, server.url) as made:
        yield made, server


@pytest.fixture
def queue() -> str:
    """A queue name nobody else uses on the shared Redis."""
    return f"q-{uuid4().hex[:8]}"
