"""Periodic jobs in workers: every tick once, whoever leads and whoever dies."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio

import stanchion
from engine.worker.jobs_app import LEDGER
from engine.worker.running import Worker
from stanchion.metrics import Tally
from stanchion.periodic import Periodic, Step, step
from stanchion.policy.contract import encode
from stanchion.policy.owner import Owner
from stanchion.policy.queue_policy import QueueConfig
from stanchion.settings import Settings
from stanchion.store import config, keys
from stanchion.store.periodic import listing, marks
from stanchion.store.ruby_processes import RubyProcesses
from stanchion.worker import ticker
from stanchion.worker.life import Life
from stanchion.worker.options import QueueWeight, WorkerOptions
from stanchion.worker.ticker import LEAD_SECONDS, Ticker
from stanchion.worker.timetable import Entry, digest, entries_of
from waiting import auntil, until

pytestmark = pytest.mark.redis

OPTIONS = WorkerOptions("app:app", (QueueWeight("mail"),))
PERIODIC_APP = "periodic_app:app"


def app_of(*lines: str, missed: Any = "all") -> stanchion.App:
    app = stanchion.App(settings=Settings())

    def note(value: int = 7) -> None: ...

    job = app.job(queue="mail", retries=3)(note)
    for line in lines:
        app.periodic(line, missed=missed)(job)
    return app


def minutes_ago(client: redis.Redis, entry: str, minutes: int) -> float:
    """Set the mark of an entry back, to a whole minute."""
    mark = time.time() // 60 * 60 - 60.0 * minutes
    client.hset(keys.PERIODIC_TICKS, entry, repr(mark))
    return mark


def ticks(client: redis.Redis) -> list[float]:
    """The ticks of the jobs in the queue, in order."""
    payloads: list[Any] = client.lrange(keys.queue("mail"), 0, -1)
    return [json.loads(payload)["periodic_at"] for payload in reversed(payloads)]


@asynccontextmanager
async def tickers(
    client: redis.asyncio.Redis, *tables: Sequence[Entry], wire: str = "7"
) -> AsyncIterator[None]:
    """One process's ticker for each table."""
    lives = [
        Life(OPTIONS, client, Tally(), identity=f"vm:{number}:a", ruby=RubyProcesses(wire))
        for number in range(len(tables))
    ]
    pairs = zip(lives, tables, strict=True)
    tasks = [asyncio.create_task(Ticker(life, table).run()) for life, table in pairs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_two_applications_that_share_a_job_enqueue_each_tick_once(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    """As in a roll-out: the old and the new version each have a leader."""
    old, new = entries_of(app_of("* * * * *")), entries_of(app_of("* * * * *", "0 0 1 1 *"))
    assert digest(old) != digest(new)
    mark = minutes_ago(redis_client, old[0].entry, 5)
    async with tickers(aredis, old, old, new, new):
        await auntil(lambda: len(ticks(redis_client)) >= 5)
        await auntil(lambda: redis_client.hlen(keys.PERIODIC) == 2)
    found = ticks(redis_client)
    assert found == [mark + 60 * number for number in range(1, len(found) + 1)]


async def test_the_payload_is_a_call_of_the_job(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    entries = entries_of(app_of("* * * * *"))
    mark = minutes_ago(redis_client, entries[0].entry, 1)
    async with tickers(aredis, entries, wire="8"):
        await auntil(lambda: ticks(redis_client))
    raw: Any = redis_client.lindex(keys.queue("mail"), -1)
    job = json.loads(raw)
    assert (job["class"], job["args"], job["queue"], job["retry"]) == ("note", [7], "mail", 3)
    assert (job["periodic_at"], type(job["created_at"]), len(job["jid"])) == (mark + 60, int, 24)


async def test_a_policy_decides_on_the_retries(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    owner = Owner("shop", "mail", "uid", 1)
    await config.write(aredis, encode(QueueConfig(owner, "mail", max_retries=9), "test"))
    entries = entries_of(app_of("* * * * *"))
    minutes_ago(redis_client, entries[0].entry, 1)
    async with tickers(aredis, entries):
        await auntil(lambda: ticks(redis_client))
    raw: Any = redis_client.lindex(keys.queue("mail"), -1)
    assert json.loads(raw)["retry"] == 9


async def test_a_broken_queue_delays_its_own_jobs_only(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    app = app_of("* * * * *")
    app.periodic("* * * * *", missed="all")(app.job(name="stuck", queue="broken")(lambda: None))
    entries = entries_of(app)
    redis_client.set(keys.queue("broken"), "a key of another type")
    for entry in entries:
        minutes_ago(redis_client, entry.entry, 2)
    async with tickers(aredis, tuple(reversed(entries))):
        await auntil(lambda: len(ticks(redis_client)) >= 2)
        redis_client.delete(keys.queue("broken"))
        await auntil(lambda: redis_client.llen(keys.queue("broken")) >= 2)


async def test_a_tick_far_off_is_not_searched_for_at_every_look(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    steps: list[float] = []

    async def noted(client: redis.asyncio.Redis, entries: Sequence[str]) -> tuple[float, list[str]]:
        found = await marks(client, entries)
        looks.append(found[0])
        return found

    def counted(periodic: Periodic, last: float | None, now: float) -> Step | None:
        steps.append(now)
        return step(periodic, last, now)

    monkeypatch.setattr("stanchion.store.periodic.marks", noted)
    monkeypatch.setattr(ticker, "step", counted)
    monkeypatch.setattr(ticker, "LONGEST_SLEEP_SECONDS", 0.01)
    async with tickers(aredis, entries_of(app_of("0 0 1 1 *"))):
        await auntil(lambda: len(looks) >= 5)
    assert steps == looks[:2]  # one that takes note of the new job, one that finds that nothing is due


def test_workers_run_periodic_jobs_also_after_the_leader_was_killed(
    redis_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    home = Path(__file__).parent
    entry = "note_tick mail * * * * * Europe/Berlin [1]"

    def runs() -> int:
        return redis_client.llen(LEDGER)

    with Worker(redis_url, tmp_path, app=PERIODIC_APP, home=home) as leader:
        until(lambda: redis_client.hexists(keys.PERIODIC_TICKS, entry))
        minutes_ago(redis_client, entry, 2)
        until(lambda: runs() >= 2)
        with Worker(redis_url, tmp_path, app=PERIODIC_APP, home=home):
            leader.kill()
            before = runs()
            minutes_ago(redis_client, entry, 2)
            until(lambda: runs() >= before + 2, timeout_seconds=LEAD_SECONDS + 5)
    (declared,) = listing(redis_client)
    assert (declared.name, declared.queue, declared.periodic.missed) == ("note_tick", "mail", "all")
