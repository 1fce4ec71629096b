"""The cache builds once per input and never shows what is half done."""

import os
import time
from pathlib import Path

import pytest

from testcluster import cache


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def fill(target: Path) -> None:
    (target / "result").write_text("done")


def refuse(target: Path) -> None:
    raise AssertionError("built twice")


def fail(target: Path) -> None:
    (target / "half").touch()
    raise RuntimeError("the compiler broke")


def test_an_entry_is_built_once() -> None:
    first = cache.entry("thing", "one", fill)
    assert cache.entry("thing", "one", refuse) == first
    assert (first / "result").read_text() == "done"


def test_a_failed_build_leaves_no_entry() -> None:
    with pytest.raises(RuntimeError, match="compiler"):
        cache.entry("thing", "one", fail)
    assert sorted(p.name for p in cache.entry("thing", "one", fill).iterdir()) == ["result"]


def test_old_entries_are_forgotten_but_none_that_may_be_in_use() -> None:
    made = [cache.entry("thing", str(number), fill) for number in range(cache.KEPT_PER_KIND + 2)]
    assert all(entry.exists() for entry in made)
    long_ago = time.time() - 2 * cache.KEPT_SECONDS
    for entry in made:
        os.utime(entry, (long_ago, long_ago))
    newest = cache.entry("thing", "newest", fill)
    kept = [p for p in newest.parent.iterdir() if not p.name.startswith(".")]
    assert len(kept) == cache.KEPT_PER_KIND
    assert newest in kept


def test_the_digest_follows_content_and_names(tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "a").write_text("1")
    before = cache.digest("go1", folder)
    assert cache.digest("go1", folder) == before
    assert cache.digest("go2", folder) != before
    (folder / "a").write_text("2")
    changed = cache.digest("go1", folder)
    (folder / "a").rename(folder / "b")
    assert len({before, changed, cache.digest("go1", folder)}) == 3
