"""The wheel: what a user gets from `pip install`, tried from an installed wheel and not from the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's wheel, built without network: the build backend is in the `dev` extra."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "uv", "build", "--wheel", "--no-build-isolation", "--offline"]
    subprocess.run([*command, "--out-dir", str(out), str(ROOT)], check=True, capture_output=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel unpacked, to stand first on the path."""
    target = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def test_the_wheel_holds_both_packages_their_data_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names}
    assert top == {"stanchion", "stanchion_operator", f"stanchion-{wheel.name.split('-')[1]}.dist-info"}
    for wanted in ("stanchion/py.typed", "stanchion_operator/py.typed", "stanchion/store/lua/enqueue.lua"):
        assert wanted in names
    assert {name for name in names if name.startswith("stanchion/_crds/") and name.count("/") == 2} == {
        f"stanchion/_crds/{path.name}" for path in (ROOT / "crds").iterdir() if path.is_file()
    }


def test_check_finds_its_crds_in_an_installed_wheel(installed: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "queue.yaml"
    shutil.copy(ROOT / "examples" / "shop" / "queues.yaml", manifest)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import stanchion; "
        "assert stanchion.__file__.startswith(sys.argv[1]), stanchion.__file__; "
        "from stanchion.cli.main import main; sys.exit(main(['check', sys.argv[2]]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(installed), str(manifest)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
