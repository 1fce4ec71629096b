"""Fills the tables of docs/reference/crds.md from the custom resource definitions.

A table stands between `<!-- fields: KIND.spec -->` or `<!-- rules: KIND -->` and `<!-- end -->`; the prose
around it is written by hand. Run after a change of crds/: `python scripts/crd_reference.py`. With `--check`
nothing is written and the exit code is 1 if the page is behind; a test runs that.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from stanchion.manifest.crds import custom_resources
from stanchion.manifest.document import Json, child

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "crds.md"
TABLE = re.compile(
    r"(<!-- (?P<what>fields|rules): (?P<kind>\w+)(\.(?P<part>\w+))? -->\n).*?(<!-- end -->)", re.DOTALL
)
AS_IN_A_CONTAINER = frozenset({"env", "envFrom", "resources", "template"})
"""Fields whose inside is Kubernetes' own and is not listed."""

Row = tuple[str, ...]


def field_rows(schema: Json, path: str = "") -> Iterator[Row]:
    """One row a field, outer ones first: path, type, default, allowed, meaning."""
    for name, inner in schema.get("properties", {}).items():
        place = child(path, name)
        default = json.dumps(inner["default"]) if "default" in inner else ""
        needed = "required" if name in schema.get("required", ()) else default and f"`{default}`"
        yield f"`{place}`", kind_of(inner), needed, allowed(inner), inner.get("description", "")
        if name not in AS_IN_A_CONTAINER:
            yield from field_rows(inner, place)
            yield from field_rows(inner.get("items", {}), f"{place}[]")


def kind_of(schema: Json) -> str:
    """The JSON type, for a list with that of its items."""
    if schema.get("type") == "array":
        return f"list of {kind_of(schema['items'])}s"
    return str(schema.get("type", "integer or string"))


def allowed(schema: Json) -> str:
    """Bounds and choices in words."""
    if "enum" in schema:
        return ", ".join(f"`{choice}`" for choice in schema["enum"])
    if "maximum" in schema:
        low = "above " if schema.get("exclusiveMinimum") else ""
        high = "below " if schema.get("exclusiveMaximum") else ""
        return f"{low}{schema['minimum']:,} to {high}{schema['maximum']:,}"
    if "maxLength" in schema:
        return f"at most {schema['maxLength']:,} characters"
    if "maxItems" in schema:
        return f"at most {schema['maxItems']:,}"
    return ""


def rule_rows(schema: Json, path: str = "") -> Iterator[Row]:
    """One row a CEL rule: the field it speaks of, and its message."""
    for rule in schema.get("x-kubernetes-validations", ()):
        place = f"{path}{rule.get('fieldPath', '')}".removeprefix(".")
        yield f"`{place or 'metadata.name'}`", rule["message"].strip()
    for name, inner in schema.get("properties", {}).items():
        yield from rule_rows(inner, child(path, name))
    if "items" in schema:
        yield from rule_rows(schema["items"], f"{path}[]")


def table(what: str, kind: str, part: str | None) -> str:
    """A table of the page as Markdown."""
    schema = custom_resources()[kind].schema
    rows: list[Row] = [("field", "what must hold")]
    if what == "rules":
        rows += rule_rows(schema)
    else:
        rows = [("field", "type", "default", "allowed", "meaning")]
        rows += field_rows(schema["properties"][part])
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Fill the tables of docs/reference/crds.md.")
    parser.add_argument("--check", action="store_true", help="only say whether the page is behind")
    check_only = parser.parse_args().check
    now = PAGE.read_text("utf-8")
    wanted = TABLE.sub(
        lambda found: f"{found[1]}{table(found['what'], found['kind'], found['part'])}{found[5]}", now
    )
    if wanted == now:
        return 0
    print(f"{PAGE.name} differs from crds/")
    if not check_only:
        PAGE.write_text(wanted, "utf-8")
    return 1 if check_only else 0


if __name__ == "__main__":
    sys.exit(main())
