"""The objects of examples/ as a real API server knows their fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from testcluster.cluster import Cluster

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples"
MANIFESTS = sorted(EXAMPLES.rglob("*.yaml"))


@pytest.mark.api
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_every_field_is_known(control_plane: Cluster, path: Path) -> None:
    crds = ("apply", "--server-side", "--force-conflicts", "--filename", str(REPOSITORY / "crds"))
    control_plane.kubectl(*crds)
    control_plane.kubectl("apply", "--dry-run=client", "--validate=strict", "--filename", str(path))
