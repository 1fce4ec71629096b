"""The samples are what a reader copies: each is valid, and they do not contradict each other."""

from __future__ import annotations

from stanchion.manifest.check import check_set, validate
from stanchion.manifest.crds import folder
from stanchion.manifest.document import Manifest
from stanchion.manifest.load import load_paths

SAMPLES = folder() / "samples"


def samples() -> tuple[Manifest, ...]:
    loaded = load_paths([SAMPLES])
    assert not loaded.problems
    assert not loaded.skipped
    return loaded.manifests


def test_every_sample_is_valid() -> None:
    for manifest in samples():
        assert validate(manifest)[1] == ()


def test_the_samples_can_be_applied_together() -> None:
    assert check_set(samples(), one_redis=True) == ()


def test_there_is_a_sample_for_each_way_to_use_a_kind() -> None:
    specs = [manifest.body["spec"] for manifest in samples()]
    workers = [spec.get("workers", {}) for spec in specs]

    for way in ("image", "targetRef", "policyRef"):
        assert any(way in found for found in workers), way
    for mode in ("Manual", "External"):
        assert any(spec.get("autoscaling", {}).get("mode") == mode for spec in specs), mode
    locks = {spec["lock"] for spec in specs if "lock" in spec}
    assert locks == {
        "UntilExecuting",
        "UntilExecuted",
        "UntilExpired",
        "WhileExecuting",
        "UntilAndWhileExecuting",
    }


def test_each_file_begins_by_saying_what_it_is_for() -> None:
    for file in SAMPLES.glob("*.yaml"):
        assert file.read_text().startswith("# "), file.name
