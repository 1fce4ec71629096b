"""The wheels the images are built from: ours, and what it depends on for the image's Python."""

import platform
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

from testcluster import cache
from testcluster.command import run

CHECKOUT = Path(__file__).parents[3]
SOURCES = tuple(CHECKOUT / name for name in ("engine", "operator", "crds", "pyproject.toml", "README.md"))
"""Everything our own wheel is made from."""

CONSTRAINTS = CHECKOUT / "constraints.txt"
IMAGE_PYTHON = "3.11.2"
"""Debian bookworm's. To the last digit, since dependencies hang on it."""

DOWNLOAD_TIMEOUT_SECONDS = 600


def collect(target: Path) -> None:
    """Fill a folder with everything `pip install --no-index 'stanchion[operator]'` needs in the image."""
    shutil.copytree(_dependencies(), target)
    uv = [sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--out-dir", str(target), str(CHECKOUT)]
    run(uv)


def _dependencies() -> Path:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    wanted = sorted({*project["dependencies"], *project["optional-dependencies"]["operator"]})
    inputs = cache.digest(IMAGE_PYTHON, platform.machine(), *wanted, CONSTRAINTS)

    def download(target: Path) -> None:
        # The image's Python, not the one that runs this: what is needed and how it was compiled differ.
        # pip judges the former by the running Python, so uv resolves and pip only downloads.
        python = [f"--python-version={IMAGE_PYTHON}", "--only-binary=:all:"]
        resolve = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", *python, "-"]
        pinned = run([*resolve, f"--constraint={CONSTRAINTS}"], input="\n".join(wanted)).stdout
        platforms = [f"--platform={p}_{platform.machine()}" for p in ("manylinux2014", "manylinux_2_28")]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *python, *platforms]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
            requirements.write(pinned)
            requirements.flush()
            fetch = [*pip, f"--dest={target}", f"--requirement={requirements.name}"]
            run(fetch, timeout_seconds=DOWNLOAD_TIMEOUT_SECONDS)

    return cache.entry("wheels", inputs, download)
