"""The `stanchion` command itself, before any command of its own."""

from __future__ import annotations

import pytest

from stanchion.cli import main as entry


def test_ctrl_c_while_a_command_is_imported_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "import_module", interrupted)
    assert entry.main(["dev"]) == entry.EXIT_INTERRUPTED
    assert capsys.readouterr().err == ""
