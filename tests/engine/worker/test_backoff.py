"""The pause after failures in a row."""

from __future__ import annotations

import asyncio
import logging
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.worker.backoff import FIRST_SECONDS, LAST_SECONDS, Outage, delay_seconds, in_words


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


async def test_one_failure_is_one_and_a_time_out_has_words(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage(logging.getLogger("test"), "fetching", Random(1))
    await outage.wait(TimeoutError())
    assert outage.over()
    assert not outage.over()
    assert [record.getMessage() for record in caplog.records] == [
        "fetching failed, trying again until it works: no answer in time",
        "fetching works again after 1 failure",
    ]
    assert in_words(ConnectionResetError()) == "ConnectionResetError"


async def test_a_signal_cuts_the_pause_short() -> None:
    outage, wake = Outage(logging.getLogger("test"), "fetching", Random(1)), asyncio.Event()
    outage._failures = 20
    waiting = asyncio.ensure_future(outage.wait(ConnectionError("refused"), wake))
    await asyncio.sleep(0)
    wake.set()
    async with asyncio.timeout(LAST_SECONDS / 2 - 0.5):
        await waiting
