"""What offline validation adds to the API server's causes: places, hints, and kinds it does not know."""

from __future__ import annotations

import sys

import pytest

from stanchion.errors import CommandError
from stanchion.manifest import rules
from stanchion.manifest.check import validate
from stanchion.manifest.load import load_text

HEAD = "apiVersion: stanchion.dev/v1alpha1\nkind: QueuePolicy\n"


def said(text: str) -> list[str]:
    (manifest,) = load_text(text, "f.yaml").manifests
    return [str(problem) for problem in validate(manifest)[1]]


def test_a_problem_stands_in_the_line_of_its_field() -> None:
    text = f"{HEAD}metadata:\n  name: mail\nspec:\n  paused: false\n  latencyTargetSeconds: 0\n"

    assert said(text) == [
        "f.yaml:7: spec.latencyTargetSeconds: Invalid value: 0: spec.latencyTargetSeconds in body "
        "should be greater than or equal to 1"
    ]


def test_a_missing_field_stands_in_the_line_of_the_object_that_lacks_it() -> None:
    text = f"{HEAD}metadata: {{name: mail}}\nspec:\n  workers:\n    image: i\n"

    assert said(text) == [
        "f.yaml:5: spec.workers.app: Required value: image needs app, the module:attribute of the App in it"
    ]


def test_a_cause_without_a_field_stands_at_the_head_of_the_manifest() -> None:
    text = f"# a comment\n{HEAD}metadata: {{name: {'a' * 53}}}\n"

    assert said(text)[0].startswith("f.yaml:2: Invalid value: metadata.name may have at most 52 characters")


def test_a_bare_word_that_yaml_misreads_is_explained() -> None:
    text = (
        f"{HEAD}metadata: {{name: mail}}\n"
        "spec:\n  workers: {targetRef: {name: x}}\n  autoscaling:\n    downstreamGuard: Off\n"
    )

    assert said(text)[0].endswith("(bare Off is no string in YAML: quote it)")


def test_a_misspelled_field_gets_the_name_it_may_have_meant() -> None:
    assert said(f"{HEAD}metadata: {{name: mail}}\nspec: {{latencyTarget: 5}}\n") == [
        'f.yaml:4: spec.latencyTarget: unknown field "spec.latencyTarget" '
        "(did you mean latencyTargetSeconds?)"
    ]
    assert said(f"{HEAD}metadata: {{name: mail}}\nspec: {{zzz: 5}}\n") == [
        'f.yaml:4: spec.zzz: unknown field "spec.zzz"'
    ]


def test_a_field_that_stands_twice_is_refused_where_it_stands_again() -> None:
    text = f"{HEAD}metadata: {{name: mail}}\nspec:\n  paused: true\n  retry: {{}}\n  paused: true\n"

    assert said(text) == ['f.yaml:7: spec.paused: duplicate field "spec.paused" (first at line 5)']


def test_a_field_of_a_merged_object_may_be_stated_again() -> None:
    text = f"{HEAD}metadata: {{name: mail}}\nspec: {{retry: {{<<: {{maxRetries: 2}}, maxRetries: 3}}}}\n"

    assert said(text) == []


def test_a_number_too_large_for_its_field_stands_in_its_line_and_without_go_values() -> None:
    text = f"{HEAD}metadata: {{name: mail}}\nspec:\n  latencyTargetSeconds: 99999999999\n"

    assert said(text)[0] == (
        "f.yaml:5: Checked value must be of type integer with format int32 in spec.latencyTargetSeconds"
    )


@pytest.mark.parametrize(
    ("api_version", "kind", "message"),
    [
        (
            "stanchion.dev/v1alpha1",
            "Queue",
            'kind: there is no kind "Queue" in this group; there are LockPolicy, QueuePolicy, TenantBudget',
        ),
        (
            "stanchion.dev/v1",
            "QueuePolicy",
            'apiVersion: "stanchion.dev/v1" is not served; QueuePolicy is stanchion.dev/v1alpha1',
        ),
        (
            "stanchion.io/v1alpha1",
            "QueuePolicy",
            'apiVersion: "stanchion.io/v1alpha1" is not served; QueuePolicy is stanchion.dev/v1alpha1',
        ),
    ],
)
def test_an_unknown_kind_or_version_says_what_there_is(api_version: str, kind: str, message: str) -> None:
    (line,) = said(f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\n")

    assert line.partition(": ")[2] == message


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ("{}", "metadata.name: Required value: name or generateName is required"),
        ("{name: 5}", "metadata.name: Invalid value: 5: must be a string; quote it"),
        ("[]", "metadata: Invalid value: []: must be an object"),
        (
            "{name: x, labels: {tier: 1}}",
            "metadata.labels.tier: Invalid value: 1: must be a string; quote it",
        ),
        ("{name: x, labels: [a]}", 'metadata.labels: Invalid value: ["a"]: must be an object of strings'),
        ("{name: x, labels: {a: " + "b" * 64 + "}}", "must be no more than 63 bytes"),
        ("{name: " + "b" * 254 + "}", "metadata.name: Invalid value"),
    ],
)
def test_bad_metadata_is_a_problem(metadata: str, message: str) -> None:
    assert message in said(f"{HEAD}metadata: {metadata}\n")[0]


def test_the_namespace_is_default_unless_stated() -> None:
    for metadata, namespace in (("{name: x}", "default"), ("{name: x, namespace: shop}", "shop")):
        (manifest,) = load_text(f"{HEAD}metadata: {metadata}\n").manifests
        stored, _ = validate(manifest)
        assert stored is not None
        assert stored["metadata"]["namespace"] == namespace


def test_validating_does_not_change_the_manifest() -> None:
    (manifest,) = load_text(f"{HEAD}metadata: {{name: x}}\nspec: {{dead: {{maxJobs: null}}}}\n").manifests

    validate(manifest)

    assert manifest.body["spec"] == {"dead": {"maxJobs": None}}


def test_without_a_cel_library_the_answer_is_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cel", None)
    rules.program.cache_clear()

    with pytest.raises(CommandError, match=r'pip install "stanchion\[local\]"'):
        said(f"{HEAD}metadata: {{name: mail}}\n")
