"""Offline validation gives the causes and the defaults that the table of examples says."""

from __future__ import annotations

import pytest

from crds.example import Example, examples
from stanchion.manifest.check import validate
from stanchion.manifest.document import Json, Manifest
from stanchion.manifest.load import load_text
from stanchion.manifest.problem import Cause


def only(text: str) -> Manifest:
    loaded = load_text(text, "example.yaml")
    assert not loaded.problems
    (manifest,) = loaded.manifests
    return manifest


def stored(text: str | None) -> Json:
    if text is None:
        return None
    defaulted, problems = validate(only(text))
    assert not problems
    return defaulted


@pytest.mark.parametrize("example", examples(), ids=lambda example: f"{example.kind}: {example.says}")
def test_the_example_is_taken_or_refused_as_it_says(example: Example) -> None:
    defaulted, problems = validate(only(example.text), stored(example.old))

    assert {Cause(problem.field, problem.reason, problem.message) for problem in problems} == example.causes
    if example.causes:
        assert defaulted is None
    else:
        assert defaulted is not None
        assert example.gives is None or defaulted["spec"] == example.gives


def test_there_are_enough_examples_of_each_kind() -> None:
    kinds = [example.kind for example in examples()]

    assert min(kinds.count(kind) for kind in ("QueuePolicy", "LockPolicy", "TenantBudget")) >= 20


def test_a_stored_object_is_valid_as_it_is() -> None:
    """Defaulting twice changes nothing: what `kubectl get -o yaml` prints can be applied again."""
    for example in examples():
        if not example.causes and not example.old:
            first = stored(example.text)
            again, problems = validate(Manifest("again.yaml", 1, first))
            assert (again, problems) == (first, ())
