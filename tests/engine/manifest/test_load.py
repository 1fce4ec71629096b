"""Files and folders become manifests with their lines, or problems that say where and what."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from stanchion.manifest.load import load_paths, load_text

POLICY = "apiVersion: stanchion.dev/v1alpha1\nkind: QueuePolicy\nmetadata: {name: mail}\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"


def test_a_file_of_several_documents_knows_the_line_of_each_field(tmp_path: Path) -> None:
    file = tmp_path / "policies.yaml"
    file.write_text(
        f"# two\n---\n{POLICY}---\n\n{POLICY}spec:\n  tenantFrom:\n  - path: a\n  - path: b\n---\n"
    )

    first, second = load_paths([file]).manifests

    assert (first.file, first.line, second.line) == (str(file), 3, 8)
    assert second.line_of("spec.tenantFrom[1].path") == 14
    assert second.line_of("spec.tenantFrom[1].jobs[3]") == 14
    assert second.line_of("spec.workers.image") == 11


def test_a_folder_is_read_in_the_order_of_names_without_its_subfolders(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("b.yml", "a.yaml", "c.json", "notes.txt", "below/d.yaml"):
        text = (
            POLICY if name != "c.json" else '{"apiVersion": "stanchion.dev/v1alpha1", "kind": "LockPolicy"}'
        )
        (tmp_path / name).write_text(text)

    loaded = load_paths([tmp_path])

    assert [Path(manifest.file).name for manifest in loaded.manifests] == ["a.yaml", "b.yml", "c.json"]


def test_a_folder_that_holds_manifests_only_further_down_says_so(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.yaml").write_text(POLICY)

    (problem,) = load_paths([tmp_path]).problems

    assert "subfolders are not read: name them" in problem.message


def test_a_list_with_two_lists_of_items_is_refused_for_it() -> None:
    item = "{apiVersion: stanchion.dev/v1alpha1, kind: QueuePolicy}"
    loaded = load_text(f"kind: List\nitems: [{item}]\nitems: [{item}]\n", "list.yaml")

    assert [str(problem) for problem in loaded.problems] == ['list.yaml:3: items: duplicate field "items"']


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(POLICY))

    (manifest,) = load_paths(["-"]).manifests

    assert (manifest.file, manifest.name) == ("<stdin>", "mail")

    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    (problem,) = load_paths(["-"]).problems
    assert problem.file == "<stdin>", "refused under the name it is accepted under"


def test_the_items_of_a_list_are_manifests_of_their_own(tmp_path: Path) -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: stanchion.dev/v1alpha1\n  kind: QueuePolicy\n"
        "  metadata:\n    name: mail\n  spec:\n    queueName: off\n- 5\n"
    )

    loaded = load_text(text, "list.yaml")

    (manifest,) = loaded.manifests
    assert (manifest.name, manifest.line, manifest.line_of("spec.queueName")) == ("mail", 4, 9)
    assert manifest.bare == {"spec.queueName": "off"}
    assert [str(problem) for problem in loaded.problems] == [
        "list.yaml:10: items[1]: an item of a List must be an object"
    ]


def test_other_objects_beside_ours_are_skipped_and_named(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(f"{CONFIG_MAP}---\n{POLICY}")

    loaded = load_paths([file])

    assert [manifest.kind for manifest in loaded.manifests] == ["QueuePolicy"]
    assert [str(other) for other in loaded.skipped] == [
        f"{file}:1: ConfigMap settings is not Stanchion's; skipped"
    ]
    assert loaded.problems == ()


def test_a_path_that_holds_nothing_of_ours_is_a_problem(tmp_path: Path) -> None:
    file, empty = tmp_path / "other.yaml", tmp_path / "empty"
    file.write_text(CONFIG_MAP)
    empty.mkdir()

    problems = load_paths([file, empty]).problems

    expected = "expected QueuePolicy, LockPolicy or TenantBudget of stanchion.dev"
    assert [str(problem) for problem in problems] == [
        f"{file}: holds only ConfigMap; {expected}",
        f"{empty}: holds no manifest; {expected}",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: stanchion.dev/v1alpha1\nkind: Queue\n",
        "apiVersion: stanchion.dev/v1\nkind: LockPolicy\n",
        "apiVersion: stanchion.io/v1alpha1\nkind: QueuePolicy\n",
    ],
)
def test_a_slip_in_group_version_or_kind_is_not_skipped(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(POLICY)
    (tmp_path / "b.yaml").write_text(text)

    loaded = load_paths([tmp_path])

    assert (len(loaded.manifests), loaded.skipped) == (2, ())


def test_what_cannot_be_read_is_a_problem_and_not_an_exception(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")

    problems = load_paths([tmp_path / "absent.yaml", binary]).problems

    assert [str(problem) for problem in problems] == [
        f"{tmp_path}/absent.yaml: No such file or directory",
        f"{binary}: the file is not UTF-8 text",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1", "f:1: not YAML: expected ',' or ']', but got '<stream end>'"),
        ("a: 1\n\tb: 2", "f:2: not YAML: found character '\\t' that cannot start any token"),
        ("a: \x07", "f: not YAML: unacceptable character #x0007: special characters are not allowed"),
        ("a: *nobody", "f:1: not YAML: found undefined alias 'nobody'"),
        ("- 1", "f:1: a manifest must be an object with apiVersion and kind"),
        ("just text", "f:1: a manifest must be an object with apiVersion and kind"),
        ("a:\n  b: .nan", "f:2: a.b: JSON has no NaN and no infinity"),
        ("a:\n  ~: 1", "f:2: a: a key must be a string, a number or a boolean"),
        ("a:\n  [1]: 1", "f:2: a: a key must be a string, a number or a boolean"),
        ("a: !!int x", "f:1: a: cannot decode `x` as !!int"),
        ("a: &a [*a]", "f:1: a[0]: the document contains excessive aliasing"),
        ("a:\n  <<: 5", "f:2: a: << needs an object or a list of objects"),
    ],
)
def test_bad_yaml_is_a_problem_with_its_line(text: str, said: str) -> None:
    loaded = load_text(text, "f")

    assert [str(problem) for problem in loaded.problems] == [said]


def test_a_few_lines_of_aliases_do_not_become_gigabytes() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    (problem,) = load_text("\n".join(lines), "f").problems

    assert problem.message == "the document contains excessive aliasing"


def test_a_document_that_is_nested_without_end_is_a_problem() -> None:
    (problem,) = load_text("[" * 5000, "f").problems

    assert str(problem) == "f: the document is nested too deeply"


def test_documents_before_a_broken_one_are_kept() -> None:
    loaded = load_text(f"{POLICY}---\na: [", "f")

    assert [manifest.name for manifest in loaded.manifests] == ["mail"]
    assert len(loaded.problems) == 1


def test_empty_documents_and_comments_are_nothing() -> None:
    assert load_text("---\n---\n# only a comment\n---\n~\n", "f") == load_text("", "f")
