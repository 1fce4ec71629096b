"""Paths of policies against the signatures of jobs: what no call can have is named before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion import App, JobSet
from stanchion.admin.reading import read
from stanchion.admin.signatures import check_paths


@pytest.fixture(scope="module")
def app() -> App:
    jobs = JobSet(prefix="catalog.", queue="imports")

    @jobs.job
    def load(account: int, options: dict[str, int], *, rows: list[int], tenant: str) -> None: ...

    @jobs.job
    def sweep() -> None: ...

    @jobs.job
    def touch(*accounts: int) -> None: ...

    made = App("redis://localhost:6379/0")
    made.include(jobs)
    return made


LOCK = """\
apiVersion: stanchion.dev/v1alpha1
kind: LockPolicy
metadata: {{name: l}}
spec:
  match: {{queues: [imports], jobs: [{job}]}}
  lock: UntilExecuted
  key: {{{part}: ["{path}"]}}
"""
QUEUE = """\
apiVersion: stanchion.dev/v1alpha1
kind: QueuePolicy
metadata: {{name: imports}}
spec:
  tenantFrom:
  - {{path: "{path}", jobs: ["{job}"]}}
"""


def problems(tmp_path: Path, text: str, app: App) -> list[str]:
    (tmp_path / "policy.yaml").write_text(text)
    reading = read([tmp_path])
    assert not reading.problems
    return [str(problem).removeprefix(f"{tmp_path}/") for problem in check_paths(reading.declared, app)]


@pytest.mark.parametrize(
    ("job", "path"),
    [
        ("catalog.load", "args[0]"),
        ("catalog.load", "args[1].anything"),
        ("catalog.load", "args[2]"),
        ("catalog.load", "args[2].rows[*]"),
        ("catalog.load", "args[*].id"),
        ("catalog.load", "cattr.account"),
        ("catalog.touch", "args[7]"),
        ("mail.unknown", "args[7]"),
    ],
)
@pytest.mark.parametrize("part", ["include", "exclude"])
def test_a_path_that_a_call_can_have(tmp_path: Path, app: App, job: str, path: str, part: str) -> None:
    assert problems(tmp_path, LOCK.format(job=job, path=path, part=part), app) == []


@pytest.mark.parametrize(
    ("job", "path", "why"),
    [
        ("catalog.load", "args[3]", "has 3 argument(s), the last is args[2]"),
        ("catalog.load", "args[2].row", "holds its keyword-only arguments: rows, tenant"),
        ("catalog.load", "args[0].id", "account of job catalog.load"),
        ("catalog.sweep", "args[0]", "has no arguments"),
    ],
)
def test_a_path_that_no_call_can_have(tmp_path: Path, app: App, job: str, path: str, why: str) -> None:
    (found,) = problems(tmp_path, LOCK.format(job=job, path=path, part="include"), app)
    assert found.startswith(f"policy.yaml:7: spec.key.include[0]: {path}: ")
    assert why in found
    assert found.endswith("all its calls would count as the same")
    (found,) = problems(tmp_path, QUEUE.format(job=job, path=path), app)
    assert found.startswith(f"policy.yaml:6: spec.tenantFrom[0].path: {path}: ")
    assert why in found


def test_an_included_path_must_fit_every_job_and_an_excluded_one_only_some(tmp_path: Path, app: App) -> None:
    fits_load_only = {"job": '"catalog.*"', "path": "args[2].rows"}
    (found,) = problems(tmp_path, LOCK.format(part="include", **fits_load_only), app)
    assert "job catalog.sweep()" in found
    assert problems(tmp_path, LOCK.format(part="exclude", **fits_load_only), app) == []
    assert problems(tmp_path, QUEUE.format(job="catalog.*", path="args[2].rows"), app) == []
