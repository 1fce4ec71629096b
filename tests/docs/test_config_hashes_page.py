"""docs/reference/config-hashes.md against the contract in code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stanchion.policy import canonical
from stanchion.policy.contract import encode
from stanchion.policy.fields import FIELDS, META
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "config-hashes.md"


def section(title: str) -> str:
    """The text under one heading."""
    return PAGE.read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("kind", FIELDS)
def test_every_field_is_listed_with_its_type_and_no_other(kind: str) -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (\w+) \|", section(f"Fields of `{kind}`"), re.MULTILINE)
    assert dict(rows) == FIELDS[kind]


def test_the_common_fields_are_listed_and_no_other() -> None:
    assert tuple(re.findall(r"^\| `(\w+)` \|", section("Fields of every hash"), re.MULTILINE)) == META


def test_the_digest_on_the_page_is_the_one_we_write() -> None:
    text, digest = section("Digest").split("```")[1].strip().splitlines()
    config = encode(QueueConfig(Owner("default", "q"), "q"), "cli")
    spec = {field: value for field, value in config.fields.items() if field not in META}
    assert text == canonical.dump(spec)
    assert digest == config.digest
