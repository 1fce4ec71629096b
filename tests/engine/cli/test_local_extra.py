"""`demo` and `dev` need libraries that a producer goes without: their absence is one clear line."""

from __future__ import annotations

import pytest

from stanchion.cli import dev
from stanchion.errors import CommandError


def test_what_is_missing_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "find_spec", lambda module: None if module in ("rich", "yaml") else object())
    with pytest.raises(CommandError, match=r"^rich, pyyaml is not installed: .* 'stanchion\[local\]'$"):
        dev.require_local_extra()


def test_nothing_is_said_when_all_is_there() -> None:
    dev.require_local_extra()
