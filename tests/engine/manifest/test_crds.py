"""The definitions are found in a wheel and in a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.errors import StanchionError
from stanchion.manifest import crds


def test_a_checkout_has_them_at_its_root() -> None:
    assert crds.folder() == Path(__file__).resolve().parents[3] / "crds"


def test_a_wheel_carries_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "_crds"
    inside.mkdir()
    monkeypatch.setattr(crds, "_PLACES", (inside, crds.folder()))

    assert crds.folder() == inside


def test_an_installation_without_them_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crds, "_PLACES", (tmp_path / "_crds",))

    with pytest.raises(StanchionError, match="reinstall stanchion"):
        crds.folder()


def test_only_a_kind_with_a_scale_subresource_has_a_replicas_path() -> None:
    paths = {kind: resource.replicas_path for kind, resource in crds.custom_resources().items()}

    assert paths == {"QueuePolicy": ("spec", "workers", "replicas"), "LockPolicy": (), "TenantBudget": ()}
