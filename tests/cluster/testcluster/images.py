"""The project's two images, built from its own Dockerfiles, and images that tests put on top."""

import functools
import tempfile
from pathlib import Path

from testcluster import base_image, cache, wheels
from testcluster.buildah import Buildah

DOCKERFILES = wheels.CHECKOUT / "images"
TAGS = {"engine": "localhost/stanchion-engine:test", "operator": "localhost/stanchion-operator:test"}


def archive(name: str) -> Path:
    """The OCI archive of `engine` or `operator`, built from the sources as they were at its first use."""
    return _built() / f"{name}.tar"


def build_on_top(folder: Path, tag: str, target: Path) -> None:
    """Build the Dockerfile in `folder`, which may start FROM ours, and write an OCI archive."""
    buildah = Buildah(_built() / "store")
    buildah.build(folder / "Dockerfile", folder, tag)
    buildah.write(target, [tag])


@functools.cache  # a run tests the sources as they were when it began
def _built() -> Path:
    base = base_image.archive()
    inputs = cache.digest(base.parent.name, DOCKERFILES, wheels.CONSTRAINTS, *wheels.SOURCES)

    def build(target: Path) -> None:
        buildah = Buildah(target / "store")
        buildah.load(base, [base_image.PYTHON])
        with tempfile.TemporaryDirectory() as context:
            wheels.collect(Path(context) / "build" / "wheels")
            for name, tag in TAGS.items():
                buildah.build(DOCKERFILES / name / "Dockerfile", Path(context), tag)
                buildah.write(target / f"{name}.tar", [tag])

    return cache.entry("images", inputs, build)
