"""A real API server takes the definitions, and says of every example what the table and `check` say."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator

import pytest

from crds.api_server import Answer, ApiServer, collection
from crds.example import Example, examples
from stanchion.manifest.check import validate
from stanchion.manifest.document import Json
from stanchion.manifest.load import load_text
from stanchion.manifest.problem import Cause

pytestmark = pytest.mark.api


def create(
    server: ApiServer, kind: str, text: str, *, content: str = "application/yaml", dry: bool = False
) -> Answer:
    path = f"{collection(kind)}?fieldValidation=Strict{'&dryRun=All' if dry else ''}"
    return server.send("POST", path, text, content=content)


def replace(server: ApiServer, example: Example, stored: Json) -> Answer:
    body = json.loads(example.text)
    body["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]
    path = f"{collection(example.kind)}/{example.name}?fieldValidation=Strict"
    return server.send("PUT", path, json.dumps(body))


def offline(text: str) -> tuple[Json, frozenset[Cause]]:
    (manifest,) = load_text(text).manifests
    defaulted, problems = validate(manifest)
    return defaulted, frozenset(Cause(problem.field, problem.reason, problem.message) for problem in problems)


@pytest.mark.parametrize("example", examples(), ids=lambda example: f"{example.kind}: {example.says}")
def test_the_server_says_what_the_table_says(server: ApiServer, example: Example) -> None:
    if example.old is None:
        answer = create(server, example.kind, example.text, content=example.content, dry=True)
    else:
        before = create(server, example.kind, example.old)
        try:
            answer = replace(server, example, before.body)
        finally:
            server.send("DELETE", f"{collection(example.kind)}/{example.name}")

    assert answer.causes == example.causes
    if answer.accepted and example.old is None:
        assert answer.body["spec"] == offline(example.text)[0]["spec"]
        assert example.gives is None or answer.body["spec"] == example.gives


def test_whatever_is_put_in_a_field_both_say_the_same(server: ApiServer) -> None:
    """The table's manifests with a strange value in one place, from a fixed seed."""
    for kind, text in _strange(count=400):
        answer, (defaulted, causes) = create(server, kind, text, dry=True), offline(text)
        assert answer.causes == causes, text
        assert not answer.accepted or answer.body["spec"] == defaulted["spec"], text


def _strange(count: int) -> Iterator[tuple[str, str]]:
    values: list[Json] = [None, True, 0, -1, 2.5, -2.5, 1e30, 10**13, "", "a b", "5", "y" * 300, [], {}]
    values += [[None], {"a": 1}, ["x", "x"]]
    chosen = random.Random(1)
    small = [
        row for row in examples() if row.old is None and row.text.startswith("{") and len(row.text) < 4000
    ]
    for _ in range(count):
        example = chosen.choice(small)
        body = json.loads(example.text)
        places = list(_places(body.get("spec", {}), ("spec",)))
        if places:
            yield example.kind, json.dumps(_put(body, chosen.choice(places), chosen.choice(values)))


def _places(value: Json, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from _places(inner, (*path, key))


def _put(body: Json, path: tuple[str | int, ...], value: Json) -> Json:
    changed = copy.deepcopy(body)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed
