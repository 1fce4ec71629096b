"""The definitions keep the conventions that make them cheap for the API server and clear to a reader."""

from __future__ import annotations

from collections.abc import Iterator

from stanchion.manifest import crds
from stanchion.manifest.document import Json

UNDERSTOOD = """
    type format enum default description required properties additionalProperties items pattern
    minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems
    minProperties maxProperties x-kubernetes-int-or-string x-kubernetes-list-map-keys
    x-kubernetes-list-type x-kubernetes-preserve-unknown-fields x-kubernetes-validations
"""
"""What offline validation can judge. A keyword that is not here would be ignored silently."""

YAML_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"}
"""Words that YAML 1.1 does not read as strings; a field of such a name could not be written."""


def nodes() -> Iterator[tuple[str, Json]]:
    """Every schema node of every kind with its path, metadata left out."""
    for kind, resource in crds.custom_resources().items():
        yield from _below(kind, resource.schema)


def _below(path: str, schema: Json) -> Iterator[tuple[str, Json]]:
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        if name not in ("metadata", "apiVersion", "kind") or path.count("."):
            yield from _below(f"{path}.{name}", inner)
    if "items" in schema:
        yield from _below(f"{path}[]", schema["items"])
    if "additionalProperties" in schema:
        yield from _below(f"{path}{{}}", schema["additionalProperties"])


NODES = dict(nodes())


def test_offline_validation_understands_every_keyword() -> None:
    assert {key for schema in NODES.values() for key in schema} <= set(UNDERSTOOD.split())


def test_every_list_says_its_type_and_its_most_items() -> None:
    for path, schema in NODES.items():
        if schema.get("type") == "array":
            assert {"maxItems", "x-kubernetes-list-type"} <= schema.keys(), path


def test_every_string_is_bounded() -> None:
    for path, schema in NODES.items():
        if schema.get("type") == "string" and schema.get("format") != "date-time" and "enum" not in schema:
            assert "maxLength" in schema, path


def test_every_open_map_is_bounded() -> None:
    for path, schema in NODES.items():
        if "additionalProperties" in schema:
            assert "maxProperties" in schema, path


def test_every_number_of_spec_is_bounded_on_both_sides() -> None:
    for path, schema in NODES.items():
        if schema.get("type") in ("integer", "number") and ".status" not in path:
            assert {"minimum", "maximum"} <= schema.keys(), path


def test_every_rule_has_a_message() -> None:
    for path, schema in NODES.items():
        for rule in schema.get("x-kubernetes-validations", ()):
            assert rule["message"], path


def test_no_object_is_given_by_default_unless_its_fields_are_spelled_out() -> None:
    """A default of {} is safe only where every rule asks `has` first, as on a QueuePolicy's spec."""
    given = {path for path, schema in NODES.items() if isinstance(schema.get("default"), dict)}

    assert given == {"QueuePolicy.spec", "TenantBudget.spec.onExceeded"}
    assert NODES["TenantBudget.spec.onExceeded"]["default"].keys() == {"enqueue", "execute"}


def test_what_code_may_set_has_no_default() -> None:
    """A policy overrides code with what it states; a schema default would count as stated."""
    stated_by_code = ("limit", "ttl", "ttl.auto.quantile", "key", "key.include", "key.perTenant")
    paths = [f"LockPolicy.spec.{field}" for field in (*stated_by_code, "onConflict", "onConflict.enqueue")]
    paths += ["QueuePolicy.spec.retry", "QueuePolicy.spec.retry.maxRetries"]

    assert [path for path in paths if "default" in NODES[path]] == []


def test_no_field_or_choice_of_a_name_that_yaml_misreads_but_the_quoted_off() -> None:
    fields = {path.rpartition(".")[2].rstrip("[]{}").lower() for path in NODES}
    choices = {str(choice) for schema in NODES.values() for choice in schema.get("enum", ())}

    assert not fields & YAML_WORDS
    assert {choice for choice in choices if choice.lower() in YAML_WORDS} == {"Off", "True", "False"}


def test_every_field_is_described_however_deep() -> None:
    """`kubectl explain` is the manual page. The items of a list are described with the list."""
    fields = [path for path in NODES if not path.endswith(("[]", "{}", ".apiVersion", ".kind", ".metadata"))]

    assert [path for path in fields if not NODES[path].get("description")] == []


def test_the_kinds_share_group_version_and_category() -> None:
    assert set(crds.custom_resources()) == {"QueuePolicy", "LockPolicy", "TenantBudget"}
    assert {resource.api_version for resource in crds.custom_resources().values()} == {
        "stanchion.dev/v1alpha1"
    }
