"""Read manifests from files and folders, as `kubectl apply -f` would.

Called by `stanchion check`, `apply` and `dev`. A file may hold several documents, and lists (`kind: List`).
Here files are read and YAML is understood; nothing is judged beyond "is this one of our objects".
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import yaml

from stanchion.manifest import construct
from stanchion.manifest.crds import GROUP, custom_resources
from stanchion.manifest.document import Json, Manifest
from stanchion.manifest.problem import Problem, duplicate_field

_SUFFIXES = (".yaml", ".yml", ".json")
_STDIN = "-"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A Kubernetes object of somebody else's, found beside ours and left alone."""

    file: str
    line: int
    kind: str
    name: str

    def __str__(self) -> str:
        what = f"{self.kind} {self.name}".strip()
        return f"{self.file}:{self.line}: {what} is not Stanchion's; skipped"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the paths held: our manifests in order, what could not be read, and what was left alone."""

    manifests: tuple[Manifest, ...]
    problems: tuple[Problem, ...]
    skipped: tuple[Skipped, ...]


def load_paths(paths: Iterable[str | Path]) -> Loaded:
    """Reads each path: a file, a folder (its own *.yaml, *.yml and *.json, like kubectl without -R) or `-`.

    Objects of other groups are skipped where a path also holds ours; a path without any of ours is a problem.
    """
    manifests: list[Manifest] = []
    problems: list[Problem] = []
    skipped: list[Skipped] = []
    for path in paths:
        found: list[Manifest] = []
        unreadable = [problem for file in _files(path) for problem in _read(file, found)]
        ours = [manifest for manifest in found if is_ours(manifest)]
        problems += unreadable
        manifests += ours
        if ours or unreadable:
            skipped += [
                Skipped(other.file, other.line, other.kind or "object", other.name)
                for other in found
                if not is_ours(other)
            ]
        else:
            problems.append(_nothing(_shown(str(path)), found))
    return Loaded(tuple(manifests), tuple(problems), tuple(skipped))


def load_text(text: str, file: str = "<text>") -> Loaded:
    """The same for text in hand: every document is returned, whatever its kind."""
    found: list[Manifest] = []
    problems = _parse(text, file, found)
    return Loaded(tuple(found), tuple(problems), ())


def is_ours(manifest: Manifest) -> bool:
    """The object is of our group or of one of our kinds: a slip in either is for `check` to refuse."""
    return manifest.api_version.partition("/")[0] == GROUP or manifest.kind in custom_resources()


def _files(path: str | Path) -> list[str]:
    if str(path) == _STDIN or not Path(path).is_dir():
        return [str(path)]
    return [str(file) for file in sorted(Path(path).iterdir()) if file.suffix in _SUFFIXES and file.is_file()]


def _read(file: str, found: list[Manifest]) -> list[Problem]:
    try:
        text = sys.stdin.read() if file == _STDIN else Path(file).read_text("utf-8")
    except OSError as error:
        return [Problem(_shown(file), 0, "", "Unreadable", error.strerror or str(error))]
    except UnicodeDecodeError:
        return [Problem(_shown(file), 0, "", "Unreadable", "the file is not UTF-8 text")]
    return _parse(text, _shown(file), found)


def _shown(file: str) -> str:
    return "<stdin>" if file == _STDIN else file


def _parse(text: str, file: str, found: list[Manifest]) -> list[Problem]:
    problems: list[Problem] = []
    try:
        for node in construct.compose(text):
            for document in _documents(node, file):
                if isinstance(document, Problem):
                    problems.append(document)
                else:
                    found.append(document)
    except RecursionError:
        problems.append(Problem(file, 0, "", "InvalidYAML", "the document is nested too deeply"))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        problems.append(Problem(file, line, "", "InvalidYAML", f"not YAML: {error.problem or error.context}"))
    except yaml.YAMLError as error:
        problems.append(Problem(file, 0, "", "InvalidYAML", f"not YAML: {str(error).splitlines()[0]}"))
    return problems


def _documents(node: yaml.Node, file: str) -> Iterator[Manifest | Problem]:
    line = node.start_mark.line + 1
    try:
        built = construct.construct(node)
    except construct.BadNode as error:
        yield Problem(file, error.line, error.path, "InvalidYAML", str(error))
        return
    if built.value is None:
        return
    if not isinstance(built.value, dict):
        yield Problem(file, line, "", "InvalidYAML", "a manifest must be an object with apiVersion and kind")
        return
    items = built.value.get("items")
    if str(built.value.get("kind", "")).endswith("List") and isinstance(items, list):
        if "items" in built.duplicates:
            twice = duplicate_field("items")
            yield Problem(file, built.lines["items"], twice.field, twice.reason, twice.message)
        for index, item in enumerate(items):
            yield _item(built, item, f"items[{index}]", file)
    else:
        yield Manifest(file, line, built.value, built.lines, built.bare, built.duplicates)


def _item(built: construct.Built, item: Json, path: str, file: str) -> Manifest | Problem:
    line = built.lines.get(path, 0)
    if not isinstance(item, dict):
        return Problem(file, line, path, "InvalidYAML", "an item of a List must be an object")
    prefix = f"{path}."
    lines, bare, duplicates = (
        _below(built.lines, prefix),
        _below(built.bare, prefix),
        _below(built.duplicates, prefix),
    )
    return Manifest(file, line, item, lines, bare, duplicates)


def _below(values: dict[str, _T], prefix: str) -> dict[str, _T]:
    return {path.removeprefix(prefix): value for path, value in values.items() if path.startswith(prefix)}


def _nothing(path: str, found: list[Manifest]) -> Problem:
    kinds = ", ".join(sorted({other.kind or "an object without a kind" for other in found}))
    what = f"holds only {kinds}" if found else "holds no manifest"
    message = f"{what}; expected QueuePolicy, LockPolicy or TenantBudget of {GROUP}"
    if Path(path).is_dir() and any(below.is_dir() for below in Path(path).iterdir()):
        message += " (subfolders are not read: name them)"
    return Problem(path, 0, "", "NothingToDo", message)
