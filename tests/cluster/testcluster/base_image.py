"""The image our Dockerfiles start from, made from Debian packages.

It stands in for the public Python image of the same name, which is not a package and so cannot be
had from a package registry: the same Debian release and Python version, in a smaller set of tools.
"""

import shutil
import tempfile
from pathlib import Path

from testcluster import cache
from testcluster.buildah import Buildah
from testcluster.command import ISOLATED, run

PYTHON = "docker.io/library/python:3.11-slim-bookworm"
"""The name in the Dockerfiles' FROM."""

PAUSE = "localhost/testcluster-pause:latest"
"""What holds a pod's namespaces: the same files, sleeping."""

SUITE = "bookworm"
PACKAGES = ("ca-certificates", "python3", "python3-venv")
UNWANTED = ("usr/share/doc", "usr/share/locale", "usr/share/man", "var/cache", "var/lib/apt")

DOCKERFILES = {
    PYTHON: """
FROM scratch
ADD root.tar /
ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
CMD ["python3"]
""",
    PAUSE: f"""
FROM {PYTHON}
CMD ["sleep", "infinity"]
""",
}
BOOTSTRAP_TIMEOUT_SECONDS = 900


def archive() -> Path:
    """The OCI archive with both images."""
    inputs = cache.digest(SUITE, *PACKAGES, *UNWANTED, *DOCKERFILES, *DOCKERFILES.values())
    return cache.entry("base-image", inputs, _build) / "images.tar"


def _build(target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target) as folder:
        context = Path(folder) / "context"
        context.mkdir()
        _bootstrap(Path(folder) / "root", context / "root.tar")
        buildah = Buildah(Path(folder) / "store")
        for tag, content in DOCKERFILES.items():
            (context / "Dockerfile").write_text(content)
            buildah.build(context / "Dockerfile", context, tag)
        buildah.write(target / "images.tar", list(DOCKERFILES))


def _bootstrap(root: Path, tar: Path) -> None:
    """Install the packages into an empty folder and pack it."""
    packages = ["--variant=minbase", f"--include={','.join(PACKAGES)}"]
    run([*ISOLATED, "debootstrap", *packages, SUITE, str(root)], timeout_seconds=BOOTSTRAP_TIMEOUT_SECONDS)
    for path in UNWANTED:
        shutil.rmtree(root / path)
    run(["tar", "--create", "--file", str(tar), "--directory", str(root), "."])
