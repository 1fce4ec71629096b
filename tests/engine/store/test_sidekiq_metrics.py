"""Executions per minute, with the names and values that Sidekiq 7.3.9 and 8.1.7 were seen to write."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import redis
import redis.asyncio

from rig.redis_versions import every_redis
from stanchion.dialect import Dialect
from stanchion.metrics import Tally
from stanchion.store import sidekiq_metrics
from stanchion.store.sidekiq_metrics import EIGHT_HOURS, THREE_DAYS, records


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def tally() -> Tally:
    """Two runs of EchoJob and one failure of BoomJob, as a child reports them."""
    child = Tally()
    child.observe_runtime("default", "EchoJob", 0, failed=False)
    child.observe_runtime("default", "EchoJob", 2600, failed=False)
    child.observe_runtime("default", "BoomJob", 4711, failed=True)
    child.observe_runtime("default", "", 1, failed=True)
    supervisor = Tally()
    supervisor.merge(child.take())
    return supervisor


COUNTS = {"EchoJob|p": 2, "EchoJob|ms": 2600, "BoomJob|p": 1, "BoomJob|f": 1}
BUCKETS = {0: 1, 13: 1}


def test_executions_are_taken_once() -> None:
    supervisor = tally()
    assert supervisor.take_executions()
    assert not supervisor.take_executions()


@pytest.mark.parametrize(
    ("wire", "moment", "minutes", "histogram"),
    [
        ("7", "2026-11-30 21:08", {"j|20261130|21:8": EIGHT_HOURS}, "EchoJob-30-21:8"),
        ("7", "2026-12-01 09:40", {"j|20261201|9:40": EIGHT_HOURS}, "EchoJob-01-09:40"),
        ("6", "2026-11-30 21:08", {"j|20261130|21:8": EIGHT_HOURS}, "EchoJob-30-21:8"),
        (
            "8",
            "2026-11-30 18:44",
            {"j|261130|18:44": EIGHT_HOURS, "j|261130|18:4": THREE_DAYS},
            "h|EchoJob-30-18:44",
        ),
        (
            "8",
            "2026-12-01 09:05",
            {"j|261201|9:05": EIGHT_HOURS, "j|261201|9:0": THREE_DAYS},
            "h|EchoJob-1-9:5",
        ),
    ],
)
def test_each_version_finds_its_own_keys(
    wire: str, moment: str, minutes: dict[str, int], histogram: str
) -> None:
    found = list(records(tally().take_executions(), Dialect.of(wire), at(moment)))
    assert {record.key: record.ttl_seconds for record in found if record.counts} == minutes
    assert all(record.counts == COUNTS for record in found if record.counts)
    assert {record.key: record.buckets for record in found if record.buckets} == {histogram: BUCKETS}


def test_a_mixed_fleet_gets_them_all() -> None:
    now = at("2026-11-30 18:44")
    found = {record.key for record in records(tally().take_executions(), Dialect.of("auto"), now)}
    assert found == {
        *("j|20261130|18:44", "EchoJob-30-18:44"),
        *("j|261130|18:44", "j|261130|18:4", "h|EchoJob-30-18:44"),
    }


@pytest.mark.redis
@every_redis
async def test_flushes_add_up_and_a_full_bucket_stays_full(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    now = at("2026-11-30 18:44")
    for executions in (tally().take_executions(), {("EchoJob", "b0"): 70_000.0, ("EchoJob", "p"): 70_000.0}):
        await sidekiq_metrics.flush(aredis, executions, Dialect.of("8"), now)
    assert redis_client.hget("j|261130|18:4", "EchoJob|p") == b"70002"
    assert redis_client.hget("j|261130|18:44", "EchoJob|ms") == b"2600"
    reads = [word for index in range(26) for word in ("GET", "u16", f"#{index}")]
    histogram = redis_client.execute_command(  # type: ignore[no-untyped-call]
        "BITFIELD_RO", "h|EchoJob-30-18:44", *reads
    )
    assert {index: count for index, count in enumerate(histogram) if count} == {0: 65_535, 13: 1}
    assert redis_client.ttl("h|EchoJob-30-18:44") == EIGHT_HOURS
