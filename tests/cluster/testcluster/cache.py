"""The cache folder: what is slow to make and the same for every run, each entry named by its inputs.

Used by everything that builds. It lies outside the checkout, so that a second clone starts quickly,
and is safe to delete while no cluster runs.
"""

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

KEPT_PER_KIND = 4
"""Older entries of a kind are removed when a new one is built: image sets grow with every source change."""
KEPT_SECONDS = 3_600
"""But none that a run may still be using."""


def folder() -> Path:
    """`$XDG_CACHE_HOME/stanchion-testcluster`, by default under ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "stanchion-testcluster"


def digest(*parts: str | Path) -> str:
    """A short name for these inputs: strings as they are, files by content, folders by all their files."""
    whole = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            whole.update(f"s{len(part)}:{part}".encode())
            continue
        for file in _files(part):
            content = file.read_bytes()
            whole.update(f"f{file.relative_to(part.parent)}:{len(content)}:".encode() + content)
    return whole.hexdigest()[:16]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(f for f in path.rglob("*") if f.is_file() and "__pycache__" not in f.parts)


def entry(kind: str, inputs: str, build: Callable[[Path], None]) -> Path:
    """The folder that `build` once filled for these inputs.

    `build` gets an empty folder, which is moved into place only when it returns: an entry that exists
    is whole. Two test runs that want the same entry build it once; the second waits.
    """
    path = folder() / kind / inputs
    with locked(path.parent / ".lock"):
        if path.exists():
            os.utime(path)
            return path
        unfinished = path.parent / ".unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        build(unfinished)
        unfinished.rename(path)
        _forget_old(path.parent)
    return path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file; the kernel gives it back if this process is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _forget_old(kind: Path) -> None:
    entries = [e for e in kind.iterdir() if not e.name.startswith(".")]
    for old in sorted(entries, key=lambda e: e.stat().st_mtime)[:-KEPT_PER_KIND]:
        if time.time() - old.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(old)
