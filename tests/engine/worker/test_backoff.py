"""The pause after failures in a row."""

from __future__ import annotations

import logging
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.worker.backoff import FIRST_SECONDS, LAST_SECONDS, Outage, delay_seconds


@given(failures=st.integers(1, 10_000), seed=st.integers())
def test_delay_grows_and_is_bounded(failures: int, seed: int) -> None:
    delay = delay_seconds(failures, Random(seed))
    assert FIRST_SECONDS / 2 <= delay <= LAST_SECONDS
    assert failures < 9 or delay >= LAST_SECONDS / 2


async def test_an_outage_is_logged_when_it_begins_and_ends(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage(logging.getLogger("test"), "fetching", Random(1))
    await outage.wait(ConnectionError("refused"))
    await outage.wait(ConnectionError("refused"))
    outage.over()
    outage.over()
    assert [record.getMessage() for record in caplog.records] == [
        "fetching failed, trying again until it works: refused",
        "fetching works again after 2 failures",
    ]
