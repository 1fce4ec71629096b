"""docs/reference/redis.md against the one file that names Redis keys."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

from stanchion.store import keys

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "redis.md"
ROW = re.compile(r"^\| `(?P<key>[^`]+)` \| (?P<type>\w+) \|", re.MULTILINE)
CHANNEL = "Pub/sub"


def declared() -> dict[str, str]:
    """Key, with its parts in angle brackets, -> the type that its text begins with."""
    found: dict[str, str] = {}
    body = ast.parse(inspect.getsource(keys)).body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        match statement, following:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(text))):
                found[str(getattr(keys, name))] = kind(text)
            case ast.FunctionDef(name=name), _:
                function = getattr(keys, name)
                parts = [f"<{parameter}>" for parameter in inspect.signature(function).parameters]
                found[function(*parts)] = kind(inspect.getdoc(function) or "")
            case _:
                pass
    return found


def kind(text: str) -> str:
    """The first word of a key's text, such as HASH."""
    word = text.split(maxsplit=1)[0].strip(",:;.")
    return "channel" if word == CHANNEL else word


def test_the_page_lists_exactly_the_keys_of_the_code() -> None:
    listed = {row["key"].replace(r"\|", "|"): row["type"] for row in ROW.finditer(PAGE.read_text())}
    assert listed == declared()
