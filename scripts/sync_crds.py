"""Copies crds/*.yaml into the Helm chart, which can only package files of its own folder.

Run by hand after a change of a CRD: `python scripts/sync_crds.py`. With `--check` nothing is copied; the
exit code is 1 if the chart is behind. A chart test runs that.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "crds"
COPY = REPOSITORY / "charts" / "stanchion" / "files" / "crds"


def stale() -> list[str]:
    """Names of the files that differ, are missing in the chart, or have no source any more."""
    source = {path.name: path.read_bytes() for path in SOURCE.glob("*.yaml")}
    copy = {path.name: path.read_bytes() for path in COPY.glob("*.yaml")}
    return sorted(name for name in source | copy if source.get(name) != copy.get(name))


def copy(name: str) -> None:
    """Make the chart's file equal to its source, or remove it if there is none."""
    source, target = SOURCE / name, COPY / name
    if source.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    else:
        target.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description="Copy the CRDs into the Helm chart.")
    parser.add_argument("--check", action="store_true", help="only say whether the chart is behind")
    check_only = parser.parse_args().check
    names = stale()
    for name in names:
        if not check_only:
            copy(name)
        print(f"{'stale' if check_only else 'copied'}: {name}")
    return 1 if check_only and names else 0


if __name__ == "__main__":
    sys.exit(main())
