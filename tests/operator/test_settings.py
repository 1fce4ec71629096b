from __future__ import annotations

from dataclasses import fields

import pytest

from stanchion.errors import InvalidSettings
from stanchion_operator.cli import _parser, main
from stanchion_operator.settings import OperatorSettings


def test_flags_beat_variables_and_variables_beat_defaults() -> None:
    environ = {
        "STANCHION_OPERATOR_NAMESPACES": "a, b",
        "STANCHION_OPERATOR_TICK_SECONDS": "2.5",
        "STANCHION_OPERATOR_ALLOW_PRIVILEGED_TEMPLATES": "true",
        "STANCHION_OPERATOR_CONCURRENCY": "4",
    }
    settings = OperatorSettings.gather({"tick_seconds": 3.0, "namespaces": None}, environ)
    assert settings.namespaces == ("a", "b")
    assert settings.tick_seconds == 3.0
    assert settings.allow_privileged_templates is True
    assert settings.concurrency == 4
    assert settings.resync_seconds == 30.0


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("TICK_SECONDS", "soon", "must be a number"),
        ("TICK_SECONDS", "60", "between 0.1 and 15"),
        ("RESYNC_SECONDS", "0", "between 1 and 3600"),
        ("CONCURRENCY", "many", "a whole number"),
        ("NAMESPACES", "Not_A_Name", "no Kubernetes name"),
        ("ALLOW_PRIVILEGED_TEMPLATES", "maybe", "true or false"),
        ("LOG_LEVEL", "loud", "must be one of"),
        ("HEALTH", "8080", "HOST:PORT"),
    ],
)
def test_a_wrong_value_is_named(variable: str, value: str, words: str) -> None:
    with pytest.raises(InvalidSettings, match=words):
        OperatorSettings.gather({}, {f"STANCHION_OPERATOR_{variable}": value})


def test_every_setting_is_a_flag() -> None:
    flags = vars(_parser().parse_args(["run"]))
    assert flags.keys() - {"command"} == {setting.name for setting in fields(OperatorSettings)}


def test_a_repeated_flag_is_a_list() -> None:
    flags = vars(_parser().parse_args(["run", "--namespace", "a", "--namespace", "b"]))
    flags.pop("command")
    assert OperatorSettings.gather(flags, {}).namespaces == ("a", "b")


def test_wrong_settings_end_with_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--tick-seconds", "99"]) == 2
    assert capsys.readouterr().err.startswith("stanchion-operator: error: tick_seconds must be")
