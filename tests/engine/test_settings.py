"""Settings: the environment's word, the defaults, and the messages for what is wrong."""

from __future__ import annotations

import pytest

from stanchion.errors import InvalidSettings
from stanchion.settings import Settings


def test_an_empty_environment_gives_the_defaults() -> None:
    assert Settings.from_environ({}) == Settings()


def test_each_variable_is_read_with_its_type() -> None:
    settings = Settings.from_environ(
        {
            "STANCHION_REDIS_URL": "redis://elsewhere:1",
            "STANCHION_CLIENT_TIMEOUT_SECONDS": "2.5",
            "STANCHION_JID_MEMORY_SECONDS": "60",
            "STANCHION_ON_REFUSED": "return",
            "STANCHION_WIRE": "8",
        }
    )
    assert settings == Settings("redis://elsewhere:1", 2.5, 60, "return", "8")


def test_an_empty_variable_counts_as_absent() -> None:
    assert Settings.from_environ({"STANCHION_REDIS_URL": ""}) == Settings()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("STANCHION_CLIENT_TIMEOUT_SECONDS", "soon", "STANCHION_CLIENT_TIMEOUT_SECONDS must be a number"),
        ("STANCHION_CLIENT_TIMEOUT_SECONDS", "0", "client_timeout_seconds must be above 0"),
        ("STANCHION_JID_MEMORY_SECONDS", "1.5", "STANCHION_JID_MEMORY_SECONDS must be a whole number"),
        ("STANCHION_JID_MEMORY_SECONDS", "0", "jid_memory_seconds must be 1 or more"),
        ("STANCHION_ON_REFUSED", "shrug", "on_refused must be one of raise, return, not 'shrug'"),
        ("STANCHION_LOG_FORMAT", "xml", "log_format must be one of text, json, not 'xml'"),
        ("STANCHION_LOG_LEVEL", "loud", "log_level must be one of debug, info, warning, error"),
        ("STANCHION_LOG_JOBS", "some", "log_jobs must be one of all, failed, not 'some'"),
        ("STANCHION_WIRE", "9", "wire must be one of auto, 6, 7, 8, not '9'"),
    ],
)
def test_a_bad_value_is_refused_by_name(variable: str, value: str, message: str) -> None:
    with pytest.raises(InvalidSettings, match=message):
        Settings.from_environ({variable: value})


def test_an_argument_beats_the_environment() -> None:
    settings = Settings(redis_url="redis://a")
    assert settings.with_redis_url("redis://b").redis_url == "redis://b"
    assert settings.with_redis_url(None) is settings
