"""The config contract: what is written can be read, and nothing damaged is ever obeyed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from engine.policy import strategies
from stanchion.policy import canonical
from stanchion.policy.contract import Config, decode, encode
from stanchion.policy.fields import FIELDS, META
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.queue_policy import QueuePolicy
from stanchion.policy.tenant_budget import TenantBudget

QUEUE: dict[str, Any] = {
    "metadata": {"name": "imports", "namespace": "shop", "uid": "u-1", "generation": 3},
    "spec": {
        "latencyTargetSeconds": 10,
        "fairness": "Tenant",
        "tenantFrom": [{"jobs": ["billing.*"], "path": "args[1]"}, {"path": "cattr.account"}],
        "retry": {"maxRetries": 5},
        "dead": {"maxJobs": 100},
        "workers": {"image": "shop:1", "app": "shop.jobs:app"},
    },
}
LOCK: dict[str, Any] = {
    "metadata": {"name": "catalog", "namespace": "shop", "uid": "u-2"},
    "spec": {
        "match": {"queues": ["imports"], "jobs": ["catalog.*"]},
        "lock": "UntilExecuted",
        "limit": 2,
        "ttl": {"auto": {"quantile": 0.5}},
        "key": {"include": ["args[0]"], "exclude": [], "acrossQueues": True, "perTenant": False},
        "onConflict": {"enqueue": "Raise", "execute": "Kill"},
    },
}
BUDGET: dict[str, Any] = {
    "metadata": {"name": "fair", "namespace": "shop", "uid": "u-3"},
    "spec": {
        "match": {"queues": ["imports"]},
        "default": {"ratePerSecond": 5, "burst": 20},
        "tiers": [{"name": "pro", "weight": 3}],
        "tenants": [{"name": "acme", "tier": "pro"}],
    },
}


def fields_of(kind: str) -> tuple[str, dict[str, str]]:
    policies: dict[str, Config] = {
        "queue": QueuePolicy.from_manifest(QUEUE),
        "lock": LockPolicy.from_manifest(LOCK),
        "budget": TenantBudget.from_manifest(BUDGET),
    }
    config = encode(policies[kind], "cli")
    return config.name, dict(config.fields)


@given(strategies.policies)
def test_what_is_written_is_read_back(policy: Config) -> None:
    config = encode(policy, "install-1")
    decoded = decode(config.kind, config.name, config.fields)
    assert decoded.problems == ()
    assert decoded.config == policy


@given(strategies.policies)
def test_every_written_field_is_in_the_contract(policy: Config) -> None:
    config = encode(policy, "install-1")
    assert set(config.fields) <= {*META, *FIELDS[config.kind]}
    assert all(isinstance(value, str) for value in config.fields.values())


def test_the_hash_of_a_queue_holds_the_gate_part_and_nothing_of_the_workers() -> None:
    name, fields = fields_of("queue")
    assert name == "imports"
    assert fields == {
        "latencyTargetSeconds": "10",
        "fairness": "Tenant",
        "tenantFrom": '[{"jobs":["billing.*"],"path":"args[1]"},{"path":"cattr.account"}]',
        "paused": "false",
        "retry.maxRetries": "5",
        "dead.maxJobs": "100",
        "dead.retentionSeconds": "15552000",
        "contractVersion": "1",
        "owner": "shop/imports",
        "ownerUid": "u-1",
        "createdAt": "",
        "managedBy": "cli",
        "generation": "3",
        "digest": fields["digest"],
        "deletionPolicy": "Retain",
    }


def test_the_digest_covers_the_spec_and_nothing_else() -> None:
    older = encode(QueuePolicy.from_manifest(QUEUE), "cli").digest
    renamed = {**QUEUE, "metadata": {"name": "other", "uid": "u-9", "generation": 8}}
    assert encode(QueuePolicy.from_manifest(renamed), "install-1").digest == older
    paused = {**QUEUE, "spec": {**QUEUE["spec"], "paused": True}}
    assert encode(QueuePolicy.from_manifest(paused), "cli").digest != older


@pytest.mark.parametrize(
    ("manifest", "read"),
    [
        (QUEUE, QueuePolicy.from_manifest),
        (LOCK, LockPolicy.from_manifest),
        (BUDGET, TenantBudget.from_manifest),
    ],
)
def test_the_digest_does_not_depend_on_the_order_of_keys(manifest: dict[str, Any], read: Any) -> None:
    assert encode(read(reversed_keys(manifest)), "cli") == encode(read(manifest), "cli")


def test_a_stated_default_and_an_absent_field_are_the_same_policy() -> None:
    bare = {"metadata": {"name": "q"}}
    stated = {"metadata": {"name": "q"}, "spec": {"queueName": "q", "paused": False, "fairness": "None"}}
    assert encode(QueuePolicy.from_manifest(bare), "cli") == encode(QueuePolicy.from_manifest(stated), "cli")


def test_whole_and_decimal_rates_are_the_same_policy() -> None:
    whole = encode(TenantBudget.from_manifest(BUDGET), "cli")
    decimal = {**BUDGET, "spec": {**BUDGET["spec"], "default": {"ratePerSecond": 5.0, "burst": 20}}}
    assert encode(TenantBudget.from_manifest(decimal), "cli") == whole


def test_a_manifest_without_uid_gets_one_from_writer_and_name() -> None:
    policy = QueuePolicy.from_manifest({"metadata": {"name": "q"}})
    assert encode(policy, "cli").fields["ownerUid"] == "cli:default/q"


@pytest.mark.parametrize("kind", FIELDS)
def test_every_changed_field_is_noticed(kind: str) -> None:
    name, fields = fields_of(kind)
    for field in set(fields) - {"owner", "ownerUid", "createdAt", "managedBy"}:
        decoded = decode(kind, name, {**fields, field: fields[field] + "~"})
        assert decoded.config is None, field
        assert any(problem.startswith(f"{kind}/{name}: ") for problem in decoded.problems)


@pytest.mark.parametrize("kind", FIELDS)
def test_every_missing_field_is_noticed(kind: str) -> None:
    name, fields = fields_of(kind)
    for field in fields:
        rest = {other: value for other, value in fields.items() if other != field}
        assert decode(kind, name, rest).config is None, field


@pytest.mark.parametrize(
    ("kind", "field", "damage", "message"),
    [
        ("queue", "paused", "yes", "must be true or false"),
        ("queue", "latencyTargetSeconds", "1e3", "must be an integer"),
        ("queue", "latencyTargetSeconds", "", "must be an integer"),
        ("queue", "fairness", "Robin", "must be one of"),
        ("queue", "tenantFrom", "[", "must be JSON"),
        ("queue", "tenantFrom", "{}", "must be list"),
        ("queue", "tenantFrom", "[{}]", "is required"),
        ("lock", "match.jobs", "[1]", "must be a list of strings"),
        ("lock", "lock", "Forever", "must be one of"),
        ("budget", "default", '{"ratePerSecond":NaN}', "must be JSON"),
        ("budget", "tenants", '[{"name":"acme","tier":"gold"}]', "no tier is named"),
    ],
)
def test_a_damaged_field_under_a_fitting_digest_is_reported(
    kind: str, field: str, damage: str, message: str
) -> None:
    name, fields = fields_of(kind)
    decoded = decode(kind, name, sealed({**fields, field: damage}))
    assert decoded.config is None
    assert message in decoded.problems[-1]
    assert field.split(".")[0] in decoded.problems[-1]


@pytest.mark.parametrize(
    ("field", "damage", "message"),
    [
        ("contractVersion", "2", "upgrade"),
        ("owner", "nobody", "must be namespace/name"),
        ("generation", "two", "must be an integer"),
        ("deletionPolicy", "Burn", "must be one of"),
        ("digest", "00", "changed by hand"),
    ],
)
def test_a_damaged_description_of_the_writer_is_reported(field: str, damage: str, message: str) -> None:
    name, fields = fields_of("queue")
    decoded = decode("queue", name, {**fields, field: damage})
    assert decoded.config is None
    assert message in decoded.problems[0]


def test_an_unknown_field_of_a_newer_writer_is_named_and_left_alone() -> None:
    name, fields = fields_of("queue")
    decoded = decode("queue", name, sealed({**fields, "newSetting": "1"}))
    assert decoded.config == QueuePolicy.from_manifest(QUEUE).config
    assert decoded.problems == ("queue/imports: newSetting: is unknown to this version",)


def sealed(fields: dict[str, str]) -> dict[str, str]:
    """The fields under a digest that fits them, as only a writer makes it."""
    spec = {field: value for field, value in fields.items() if field not in META}
    return {**fields, "digest": canonical.digest(spec)}


def reversed_keys(value: Any) -> Any:
    """The same JSON with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return json.loads(json.dumps(value)) if not isinstance(value, list) else [reversed_keys(v) for v in value]
