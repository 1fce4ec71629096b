"""Names that Kubernetes takes and refuses; the words are in the table of examples."""

from __future__ import annotations

import pytest

from stanchion.manifest import names


@pytest.mark.parametrize("name", ["a", "1", "a-b.c", "a" * 253])
def test_names_of_objects(name: str) -> None:
    assert list(names.object_faults(name)) == []


@pytest.mark.parametrize(
    ("name", "fault"), [("a.b", "must not contain dots"), ("a" * 64, "no more than 63 bytes")]
)
def test_a_namespace_is_one_short_label(name: str, fault: str) -> None:
    assert list(names.namespace_faults("shop-1")) == []
    assert [fault in found for found in names.namespace_faults(name)] == [True]


@pytest.mark.parametrize("key", ["a", "A_b.c", "example.com/a", "x.y/" + "z" * 63])
def test_keys_of_labels(key: str) -> None:
    assert list(names.key_faults(key)) == []


@pytest.mark.parametrize("key", ["", "-a", "a/b/c", "/b", "a/", "A/b", "x/" + "z" * 64])
def test_keys_that_are_none(key: str) -> None:
    assert list(names.key_faults(key))


def test_a_label_may_be_empty() -> None:
    assert list(names.label_value_faults("")) == []
