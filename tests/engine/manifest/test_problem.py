"""Values are printed as the API server prints them."""

from __future__ import annotations

import pytest

from stanchion.manifest.document import Json
from stanchion.manifest.problem import Problem, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (5, "5"),
        (-2.5, "-2.5"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (123456.0, "123456"),
        (1000000.0, "1e+06"),
        (1000000.5, "1.0000005e+06"),
        (1e30, "1e+30"),
        ("é", '"é"'),
        ({"b": [1], "a": None}, '{"a":null,"b":[1]}'),
    ],
)
def test_a_value_is_shown_as_go_shows_it(value: Json, text: str) -> None:
    assert shown(value) == text


def test_a_problem_without_a_line_or_field_names_the_file() -> None:
    assert str(Problem("f.yaml", 0, "", "Unreadable", "no")) == "f.yaml: no"
    assert str(Problem("f.yaml", 3, "a", "r", "no", "try")) == "f.yaml:3: a: no (try)"
