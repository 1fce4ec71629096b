"""The image our Dockerfiles start from, made from Debian packages.

It stands in for the public Python image of the same name, which is not a package and so cannot be
had from a package registry: the same Debian release and Python version, in a smaller set of tools.
"""

import shutil
from pathlib import Path

from testcluster import cache
from testcluster.buildah import Buildah
from testcluster.command import run

PYTHON = "docker.io/library/python:3.11-slim-bookworm"
"""The name in the Dockerfiles' FROM."""

PAUSE = "localhost/testcluster-pause:latest"
"""What holds a pod's namespaces: the same files, sleeping."""

SUITE = "bookworm"
PACKAGES = ("ca-certificates", "python3", "python3-venv")
UNWANTED = ("usr/share/doc", "usr/share/locale", "usr/share/man", "var/cache", "var/lib/apt")
BOOTSTRAP_TIMEOUT_SECONDS = 900


def archive() -> Path:
    """The OCI archive with both images."""
    inputs = cache.digest(SUITE, *PACKAGES, *UNWANTED, PYTHON, PAUSE)
    return cache.entry("base-image", inputs, _build) / "images.tar"


def _build(target: Path) -> None:
    store = target / "store"
    buildah = Buildah(store)
    container = buildah.run("from", "scratch")
    root = Path(buildah.run("mount", container))
    bootstrap = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(root)]
    run(bootstrap, timeout_seconds=BOOTSTRAP_TIMEOUT_SECONDS)
    for path in UNWANTED:
        shutil.rmtree(root / path)
    for tag, command in ((PAUSE, "sleep infinity"), (PYTHON, "python3")):
        buildah.run("config", f"--cmd={command}", container)
        buildah.run("commit", "--quiet", container, tag)
    buildah.run("umount", container)
    buildah.write(target / "images.tar", [PYTHON, PAUSE])
    buildah.run("rm", container)
    shutil.rmtree(store)
    shutil.rmtree(f"{store}-run")
