"""buildah, on an image store of our own: the machine's images are neither seen nor changed."""

import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from testcluster.command import ISOLATED, run

BUILD_TIMEOUT_SECONDS = 900


class Buildah:
    """Builds images in the store at `store` and writes them out as archives. Needs root."""

    def __init__(self, store: Path) -> None:
        self._store = store

    def build(self, dockerfile: Path, context: Path, tag: str) -> None:
        """Build a Dockerfile; its FROM must name an image that is in the store."""
        isolation = ["--isolation=chroot", "--pull-never", "--layers=false"]
        self.run("build", *isolation, f"--file={dockerfile}", f"--tag={tag}", str(context))

    def load(self, archive: Path, tags: Sequence[str]) -> None:
        """Take images from an archive that `write` made."""
        for tag in tags:
            image = self.run("pull", "--quiet", f"oci-archive:{archive}:{tag}")
            self.run("tag", image, tag)

    def write(self, archive: Path, tags: Sequence[str]) -> None:
        """Write images to one OCI archive; layers that they share are in it once."""
        with tempfile.TemporaryDirectory(dir=archive.parent) as layout:
            for tag in tags:
                self.run("push", "--quiet", tag, f"oci:{layout}:{tag}")
            with tarfile.open(archive, "w") as tar:
                for part in ("oci-layout", "index.json", "blobs"):
                    tar.add(Path(layout) / part, part)

    def run(self, *args: str) -> str:
        """Any buildah command; returns what it printed."""
        # Its short-lived files are found by the store's, so two stores never meet.
        places = [f"--root={self._store}", f"--runroot={self._store}-run"]
        return run(
            [*ISOLATED, "buildah", *places, *args], timeout_seconds=BUILD_TIMEOUT_SECONDS
        ).stdout.strip()
