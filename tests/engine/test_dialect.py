"""What is written for Sidekiq 6, 7 and 8, and for fleets that mix them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.dialect import Dialect, major_of
from stanchion.job import Job

NOW = 1_796_064_257.877


@pytest.mark.parametrize(
    ("versions", "stated", "has_old_work", "timestamp"),
    [
        ([], "7.3.9", True, NOW),
        (["6.4.1"], "6.4.1", True, NOW),
        (["6.5.12"], "6.4.1", True, NOW),
        (["7.3.10"], "7.3.9", False, NOW),
        (["8.0.9", "8.1.7"], "8.1.7", False, 1_796_064_257_877),
        (["7.3.10", "8.1.7"], "7.3.9", False, NOW),
        (["6.4.1", "8.1.7"], "7.3.9", True, NOW),
        (["no version", ""], "7.3.9", True, NOW),
        (["9.0.0"], "8.1.7", False, 1_796_064_257_877),
    ],
)
def test_auto_writes_what_every_live_ruby_process_understands(
    versions: list[str], stated: str, has_old_work: bool, timestamp: float
) -> None:
    dialect = Dialect.of("auto", versions)
    written = dialect.timestamp(NOW)
    assert (dialect.version, dialect.has_old_work, written) == (stated, has_old_work, timestamp)
    assert type(written) is type(timestamp)


@pytest.mark.parametrize("wire", ["6", "7", "8"])
def test_a_fixed_wire_asks_nobody(wire: str) -> None:
    assert Dialect.of(wire, ["6.4.1", "8.1.7"]) == Dialect.of(wire)


@pytest.mark.parametrize(
    ("version", "major"), [("5.2.0", 6), ("7.0", 7), ("12.1", 8), ("x", None), ("7", None)]
)
def test_the_nearest_dialect_we_know(version: str, major: int | None) -> None:
    assert major_of(version) == major


@given(st.sampled_from(["6", "7", "8"]), st.floats(1e9, 4e9))
def test_every_dialect_is_read_back(wire: str, now: float) -> None:
    written = Dialect.of(wire).timestamp(now)
    read = Job({"class": "A", "jid": "1", "created_at": written}).created_at_seconds
    assert read == pytest.approx(now, abs=0.001)
