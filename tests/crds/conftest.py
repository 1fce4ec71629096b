"""The API server with our definitions, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crds.api_server import ApiServer, collection
from stanchion.manifest.crds import custom_resources, folder
from testcluster.cluster import Cluster
from testcluster.waiting import wait_until


@pytest.fixture(scope="session")
def server(control_plane: Cluster) -> Iterator[ApiServer]:
    """A client of the API server, once all three kinds are served."""
    control_plane.kubectl("apply", "--server-side", "--force-conflicts", "--filename", str(folder()))
    with ApiServer(control_plane.kubeconfig) as client:

        def served() -> bool:
            return all(client.send("GET", collection(kind)).accepted for kind in custom_resources())

        wait_until(served, "our kinds to be served", 30)
        yield client


@pytest.fixture
def namespace(control_plane: Cluster) -> Iterator[str]:
    """A namespace of the test's own."""
    with control_plane.namespace("crds") as name:
        yield name
