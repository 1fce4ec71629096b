"""docs/reference/python.md says what the package exports, and no more."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import stanchion
from stanchion import errors
from stanchion.call import OptionFields
from stanchion.verdict import Verdict

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text()
NOT_FOR_APPLICATIONS = {"Call", "CurrentJob", "JobDefinition", "Settings", "Verdict", "StanchionError"}


def listed(section: str) -> set[str]:
    """First cells of the table in one section."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE))


def test_every_option_is_listed_and_no_other() -> None:
    assert listed("Enqueue") == set(OptionFields.__annotations__)


def test_every_field_of_a_verdict_is_listed_and_no_other() -> None:
    assert listed("Verdict") == {field.name for field in fields(Verdict)} | {"accepted"}


def test_every_exported_error_is_listed_and_no_other() -> None:
    exported = {name for name in stanchion.__all__ if hasattr(errors, name)} - {"StanchionError"}
    assert listed("Errors") == exported


@pytest.mark.parametrize("name", sorted(set(stanchion.__all__) - NOT_FOR_APPLICATIONS))
def test_every_exported_name_is_on_the_page(name: str) -> None:
    assert name in PAGE
