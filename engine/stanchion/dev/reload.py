"""Watches manifests and Python code; says which kind of change it was. Called by the runner.

One burst of saves is one change. It must never read or judge what changed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change, DefaultFilter, awatch

MANIFEST_SUFFIXES = (".yaml", ".yml", ".json")
CODE_SUFFIX = ".py"


@dataclass(frozen=True, slots=True)
class Changed:
    """What a burst of saves touched."""

    manifests: bool
    code: bool


async def changes(manifests: Iterable[Path], code: Path) -> AsyncIterator[Changed]:
    """Every change of a manifest under the given paths or of a module under `code`. Ends when cancelled."""
    noticed = _Noticed(manifests, code)
    async for batch in awatch(*noticed.folders, watch_filter=noticed):
        paths = [Path(name) for _, name in batch]
        yield Changed(
            manifests=any(noticed.is_manifest(path) for path in paths),
            code=any(noticed.is_code(path) for path in paths),
        )


class _Noticed(DefaultFilter):
    """Leaves out version control, caches and virtual environments, and whatever is neither kind."""

    ignore_dirs = (*DefaultFilter.ignore_dirs, ".stanchion")

    def __init__(self, manifests: Iterable[Path], code: Path) -> None:
        super().__init__()
        self._roots = [path.resolve() for path in manifests]
        self._code = code.resolve()

    @property
    def folders(self) -> list[Path]:
        """What to watch. Editors replace files, and a watch on the old one would go deaf: hence folders."""
        return sorted({root if root.is_dir() else root.parent for root in self._roots} | {self._code})

    def __call__(self, change: Change, path: str) -> bool:
        seen = Path(path)
        return super().__call__(change, path) and (self.is_manifest(seen) or self.is_code(seen))

    def is_manifest(self, path: Path) -> bool:
        return any(
            path == root or (path.suffix in MANIFEST_SUFFIXES and path.parent == root) for root in self._roots
        )

    def is_code(self, path: Path) -> bool:
        return path.suffix == CODE_SUFFIX and path.is_relative_to(self._code)
