"""The table of examples in `examples/`: manifests that are taken or refused, and what is then stored or said.

It is the single source for two tests: that offline validation says so (plain tier) and that a real API
server does (tier api).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stanchion.manifest import construct
from stanchion.manifest.document import Json
from stanchion.manifest.problem import RULES_NOT_CHECKED, Cause

FOLDER = Path(__file__).parent / "examples"
API_VERSION = "stanchion.dev/v1alpha1"


@dataclass(frozen=True)
class Example:
    """One row. `text` is the manifest as YAML or JSON, `old` one that is stored before it, if any."""

    says: str
    kind: str
    name: str
    text: str
    old: str | None
    content: str
    """What the API server is told the text is. Rows with `json` are JSON: only there does it name the path of
    a duplicate field."""
    gives: Json
    """The whole spec that is stored; None where only acceptance matters."""
    causes: frozenset[Cause]
    """Why it is refused; empty if it is taken."""


def examples() -> list[Example]:
    """Every row of every file."""
    return [example for file in sorted(FOLDER.glob("*.yaml")) for example in _read(file)]


def _read(file: Path) -> Iterator[Example]:
    table = construct.construct(next(construct.compose(file.read_text("utf-8")))).value
    for row in table["examples"]:
        causes = frozenset(Cause(**cause) for cause in row.get("causes", ()))
        if row.get("rulesUnchecked"):
            causes |= {RULES_NOT_CHECKED}
        yield Example(
            says=row["says"],
            kind=table["kind"],
            name=row.get("name", "example"),
            text=_text(table["kind"], row),
            old=_manifest(table["kind"], {"spec": row["old"]}) if "old" in row else None,
            content="application/json" if "json" in row else "application/yaml",
            gives=row.get("gives"),
            causes=causes,
        )


def _text(kind: str, row: dict[str, Json]) -> str:
    if "json" in row:
        return str(row["json"])
    return _with_text(kind, row["text"]) if "text" in row else _manifest(kind, row)


def _manifest(kind: str, row: dict[str, Json]) -> str:
    body = {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": row.get("name", "example"), **row.get("metadata", {})},
        **row.get("beside", {}),
    }
    if "spec" in row:
        body["spec"] = row["spec"]
    for field, many in row.get("repeat", {}).items():
        items = [json.dumps(many["item"]).replace("%d", str(number)) for number in range(many["count"])]
        body["spec"][field] = [json.loads(item) for item in items]
    return json.dumps(body)


def _with_text(kind: str, text: str) -> str:
    spec = "\n".join(f"  {line}" for line in text.splitlines())
    return f"apiVersion: {API_VERSION}\nkind: {kind}\nmetadata: {{name: example}}\nspec:\n{spec}\n"
