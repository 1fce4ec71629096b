"""Who counts as dead: a counter that stood still on the observer's own clock."""

from __future__ import annotations

import asyncio

import pytest
import redis
import redis.asyncio
from hypothesis import given
from hypothesis import strategies as st

from stanchion.metrics import Tally
from stanchion.store import keys
from stanchion.worker.life import Life
from stanchion.worker.observer import Observer, Sightings
from stanchion.worker.options import QueueWeight, WorkerOptions
from waiting import auntil

DEAD_AFTER = 10.0


def test_a_counter_that_stands_still_is_dead_after_t_and_not_before() -> None:
    seen = Sightings().updated({"a": "7"}, 100.0).updated({"a": "7"}, 109.9)
    assert seen.dead(109.9, DEAD_AFTER) == {}
    assert seen.dead(110.0, DEAD_AFTER) == {"a": "7"}


def test_every_move_starts_the_time_again() -> None:
    seen = Sightings().updated({"a": "7"}, 100.0).updated({"a": "8"}, 109.0)
    assert seen.dead(118.9, DEAD_AFTER) == {}


def test_a_process_that_left_is_forgotten() -> None:
    seen = Sightings().updated({"a": "7"}, 100.0).updated({}, 101.0).updated({"a": "7"}, 102.0)
    assert seen.dead(111.0, DEAD_AFTER) == {}


@given(st.lists(st.tuples(st.floats(0.01, 9.9), st.integers(0, 3)), max_size=40))
def test_nobody_who_beats_within_t_is_ever_dead(steps: list[tuple[float, int]]) -> None:
    """Any number of looks between beats that are less than T apart."""
    seen, now, count = Sightings(), 0.0, 0
    for gap, looks in steps:
        for look in range(looks):
            seen = seen.updated({"a": str(count)}, now + gap * look / (looks + 1))
        now, count = now + gap, count + 1
        seen = seen.updated({"a": str(count)}, now)
        assert seen.dead(now, DEAD_AFTER) == {}


@pytest.mark.redis
async def test_what_lies_in_one_record_does_not_hide_the_other_dead(
    aredis: redis.asyncio.Redis, redis_client: redis.Redis
) -> None:
    await aredis.hset(keys.BEATS, mapping={"broken": "1", "garbled": "1", b"\xff": b"\xff", "dead": "1"})
    await aredis.set(keys.members("broken"), "no hash")
    await aredis.hset(keys.members("garbled"), "incarnation", "no list")
    stay = [b"broken", b"garbled", b"\xff"]
    options = WorkerOptions("app:app", (QueueWeight("mail"),), beat_seconds=0.02, dead_after_seconds=0.1)
    observer = asyncio.create_task(Observer(Life(options, aredis, Tally())).run())
    try:
        await auntil(lambda: sorted(redis_client.hkeys(keys.BEATS)) == stay, timeout_seconds=5)
    finally:
        observer.cancel()
