"""Paths into payloads, and the tenant they find."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.errors import InvalidPolicy
from stanchion.policy import paths
from stanchion.policy.queue_policy import TenantSource
from stanchion.policy.tenant import NO_TENANT, tenant_of

PAYLOAD = {
    "class": "catalog.load",
    "args": [7, {"tenant_id": "acme", "rows": [{"sku": 1}, {"sku": 2}, {}]}, None, True, 1.5, ""],
    "cattr": {"account-id": 3},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("args[0]", [7]),
        ("args[1].tenant_id", ["acme"]),
        ("args[1].rows[*].sku", [1, 2]),
        ("args[1].rows[2].sku", []),
        ("args[*].tenant_id", ["acme"]),
        ("args[9]", []),
        ("args.tenant_id", []),
        ("args[0][0]", []),
        ("cattr.account-id", [3]),
        ("class", ["catalog.load"]),
        ("class[0]", []),
        ("absent.name", []),
    ],
)
def test_selection(path: str, found: list[Any]) -> None:
    assert paths.select(paths.parse(path), PAYLOAD) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[0]",
        ".args",
        "args[",
        "args[-1]",
        "args[x]",
        "args[10000]",
        "args..x",
        "args[0]x",
        "a b",
        "args[*",
        "args.0",
        "a" * 257,
        "args[0]\n",
    ],
)
def test_what_is_no_path(text: str) -> None:
    with pytest.raises(InvalidPolicy, match=r"spec\.key\.include\[0\]: .* is no path"):
        paths.parse(text, "spec.key.include[0]")


def test_a_path_knows_its_argument_and_whether_it_names_one_value() -> None:
    assert paths.parse("args[2].name").argument == 2
    assert paths.parse("args[*].name").argument is None
    assert paths.parse("cattr.args").argument is None
    assert paths.parse("args[2].name").is_single
    assert not paths.parse("args[2].rows[*]").is_single


def test_a_wide_selection_is_bounded() -> None:
    payload = {"args": [list(range(paths.MAX_VALUES * 2))]}
    assert len(paths.select(paths.parse("args[0][*]"), payload)) == paths.MAX_VALUES


@pytest.mark.parametrize(
    ("sources", "tenant"),
    [
        ([TenantSource("args[1].tenant_id")], "acme"),
        ([TenantSource("args[0]")], "7"),
        ([TenantSource("args[3]")], "true"),
        ([TenantSource("args[4]")], "1.5"),
        ([TenantSource("args[2]"), TenantSource("args[0]")], "7"),
        ([TenantSource("args[1]"), TenantSource("args[0]")], "7"),
        ([TenantSource("args[5]")], NO_TENANT),
        ([TenantSource("args[1].tenant_id", ("mail.*",)), TenantSource("args[0]")], "7"),
        ([TenantSource("args[1].tenant_id", ("mail.*", "catalog.*"))], "acme"),
        ([], NO_TENANT),
    ],
)
def test_the_first_source_that_matches_and_yields_a_scalar_wins(
    sources: list[TenantSource], tenant: str
) -> None:
    assert tenant_of(sources, "catalog.load", PAYLOAD) == tenant


def test_a_name_too_long_for_a_key_is_no_tenant() -> None:
    assert tenant_of([TenantSource("args[0]")], "job", {"args": ["x" * 129]}) == NO_TENANT
