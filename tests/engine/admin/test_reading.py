"""Manifest files as policies: our defaults are the schema's, and every problem has its place."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from stanchion.admin.reading import READERS, read

MINIMAL: dict[str, list[dict[str, object]]] = {
    "QueuePolicy": [
        {},
        {"redis": {"secretRef": {"name": "r"}}, "dead": {}, "tenantFrom": [{"path": "args[0]"}]},
        {"workers": {"image": "i", "app": "a:b"}, "autoscaling": {}},
        {
            "workers": {"targetRef": {"name": "sidekiq"}},
            "autoscaling": {
                "schedules": [{"start": "0 8 * * *", "end": "0 9 * * *", "minReplicas": 2}],
                "fallback": {"replicas": 2},
            },
        },
        {"workers": {"policyRef": {"name": "other"}}},
    ],
    "LockPolicy": [
        {"match": {}, "lock": "UntilExecuted"},
        {"match": {}, "lock": "UntilExecuted", "digest": "UniqueJobsModern", "uniqueJobs": {}},
        {"match": {}, "lock": "UntilExecuted", "key": {}, "onConflict": {}, "ttl": {"auto": {}}},
    ],
    "TenantBudget": [{"match": {}, "default": {}}, {"match": {}, "default": {}, "onExceeded": {}}],
}
CASES = [(kind, spec) for kind, specs in MINIMAL.items() for spec in specs]


@pytest.mark.parametrize(("kind", "spec"), CASES)
def test_our_defaults_are_the_schemas(tmp_path: Path, kind: str, spec: dict[str, object]) -> None:
    manifest = {
        "apiVersion": "stanchion.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": "x"},
        "spec": spec,
    }
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(manifest))
    reading = read([tmp_path])
    assert reading.problems == ()
    (declared,) = reading.declared
    assert declared.policy == READERS[kind](manifest)


def test_two_policies_for_one_queue_are_a_problem_where_there_is_one_redis(tmp_path: Path) -> None:
    for namespace in ("shop", "other"):
        (tmp_path / f"{namespace}.yaml").write_text(
            "apiVersion: stanchion.dev/v1alpha1\n"
            "kind: QueuePolicy\n"
            f"metadata: {{name: imports, namespace: {namespace}}}\n"
        )
    assert read([tmp_path]).problems == ()
    (problem,) = read([tmp_path], one_redis=True).problems
    assert "already belongs to QueuePolicy other/imports" in str(problem)


def test_only_what_can_be_mended_is_a_problem(tmp_path: Path) -> None:
    """The API server adds that rules were not checked; in a list of things to mend that is noise."""
    file = tmp_path / "x.yaml"
    file.write_text(
        "apiVersion: stanchion.dev/v1alpha1\nkind: QueuePolicy\n"
        "metadata: {name: x}\nspec: {fairness: Often}\n"
    )

    assert [problem.field for problem in read([file]).problems] == ["spec.fairness"]
