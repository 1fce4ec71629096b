"""Keys and tags. What bare scalars mean stands in the table of examples (yaml_scalars)."""

from __future__ import annotations

import pytest

from stanchion.manifest import scalars
from stanchion.manifest.document import Json

TAG = "tag:yaml.org,2002:"


@pytest.mark.parametrize(
    ("value", "key"), [(True, "true"), (False, "false"), (5, "5"), (1.5, "1.5"), ("no", "no")]
)
def test_a_key_becomes_a_string(value: Json, key: str) -> None:
    assert scalars.key(value) == key


@pytest.mark.parametrize(
    ("text", "tag", "value"),
    [
        ("5", f"{TAG}str", "5"),
        ("5", f"{TAG}int", 5),
        ("5", f"{TAG}float", 5),
        ("1.5", f"{TAG}float", 1.5),
        ("yes", f"{TAG}bool", True),
        ("~", f"{TAG}null", None),
        ("aGk=", f"{TAG}binary", "hi"),
        ("5", "!ours", "5"),
    ],
)
def test_an_explicit_tag_decides(text: str, tag: str, value: Json) -> None:
    assert scalars.resolve(text, tag) == value


@pytest.mark.parametrize(
    ("text", "tag"),
    [("x", "int"), ("yes", "int"), ("1.5", "int"), ("1", "bool"), ("x", "null"), ("a", "binary")],
)
def test_a_value_that_does_not_fit_its_tag_is_refused(text: str, tag: str) -> None:
    with pytest.raises(scalars.BadScalar):
        scalars.resolve(text, f"{TAG}{tag}")


def test_a_number_too_large_for_an_integer_is_a_float() -> None:
    assert scalars.resolve("9223372036854775807", None) == 2**63 - 1
    assert isinstance(scalars.resolve("9223372036854775808", None), float)
