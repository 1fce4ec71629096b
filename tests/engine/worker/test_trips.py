"""The loop of trips by itself, against a real Redis: what a drain waits for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from random import Random

import pytest
import redis.asyncio

from stanchion import metrics
from stanchion.errors import LeaseLost
from stanchion.gate.config import ConfigCache
from stanchion.store import keys, membership
from stanchion.store.trip import Ended, Kind, Leased
from stanchion.worker.options import QueueWeight, WorkerOptions
from stanchion.worker.trips import Trips

pytestmark = pytest.mark.redis

ME = "me"


class NoWaits:
    """Nobody waits for jobs here: the test says when to look."""

    async def only(self, queues: Iterable[str]) -> None:
        """Take note of nothing."""


class Bell(metrics.Tally):
    """A tally that rings when an outcome was refused."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = asyncio.Event()

    def add(self, series: metrics.Series, *labels: str, amount: float = 1.0) -> None:
        if series is metrics.OUTCOMES_REFUSED:
            self.refused.set()


async def test_a_drain_waits_for_an_outcome_that_redis_refused(aredis: redis.asyncio.Redis) -> None:
    """The outcome rests a second before it is sent again; ending meanwhile would run the job twice."""
    await membership.enlist(aredis, "vm:1:abc")
    await membership.register(aredis, "vm:1:abc", ME, ["mail"])
    await aredis.lpush(keys.queue("mail"), b'{"class":"A","jid":"1","args":[]}')
    await aredis.set(keys.RETRY, "not a set")
    tally = Bell()

    def fail(leased: Leased) -> None:
        trips.finish()
        trips.end(Ended(leased.token, "mail", "A", "1", Kind.RETRY, 1, payload=b"again", score=1.0))

    options = WorkerOptions("app:app", (QueueWeight("mail"),))
    trips = Trips(aredis, ME, options, ConfigCache(), tally, fail, Random(1))
    run = asyncio.ensure_future(trips.run(NoWaits()))  # type: ignore[arg-type]
    await asyncio.wait_for(tally.refused.wait(), 10)
    await aredis.delete(keys.RETRY)
    await asyncio.wait_for(run, 10)
    assert await aredis.zrange(keys.RETRY, 0, -1) == [b"again"]
    assert not await aredis.exists(keys.lease(ME))


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


async def test_a_fenced_child_names_the_jobs_whose_outcome_is_not_recorded(
    aredis: redis.asyncio.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """Their own lines have said that they are done."""
    options = WorkerOptions("app:app", (QueueWeight("mail"),))
    trips = Trips(aredis, ME, options, ConfigCache(), metrics.Tally(), lambda leased: None, Random(1))
    trips.end(Ended("1.1", "mail", "A", "j1", Kind.DONE, 1))
    await aredis.set(keys.trip(ME), "dead")
    with pytest.raises(LeaseLost):
        await asyncio.wait_for(trips.run(NoWaits()), 10)  # type: ignore[arg-type]
    trips.warn_of_unrecorded()
    [line] = warnings(caplog)
    assert line.startswith("the outcome of job j1 (A), done, could not be recorded")


async def test_an_outcome_that_comes_too_late_names_its_job(
    aredis: redis.asyncio.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    await membership.enlist(aredis, "vm:1:abc")
    await membership.register(aredis, "vm:1:abc", ME, ["mail"])
    options = WorkerOptions("app:app", (QueueWeight("mail"),))
    trips = Trips(aredis, ME, options, ConfigCache(), metrics.Tally(), lambda leased: None, Random(1))
    trips.end(Ended("1.1", "mail", "A", "j1", Kind.DONE, 1))
    trips.finish()
    await asyncio.wait_for(trips.run(NoWaits()), 10)  # type: ignore[arg-type]
    [line] = warnings(caplog)
    assert line.startswith("the outcome of job j1 (A), done, came too late")
