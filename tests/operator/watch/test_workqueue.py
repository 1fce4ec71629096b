from __future__ import annotations

import asyncio
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion_operator.errors import NotLeading
from stanchion_operator.watch.workqueue import (
    FIRST_BACKOFF_SECONDS,
    LONGEST_BACKOFF_SECONDS,
    Handle,
    WorkQueue,
    backoff_seconds,
)


class Recorder:
    """Handles keys, one pass at a time, each held until `release` is set."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.running: set[str] = set()
        self.release = asyncio.Event()
        self.release.set()
        self.changed = asyncio.Event()

    async def __call__(self, key: str) -> float | None:
        assert key not in self.running
        self.running.add(key)
        self.seen.append(key)
        self.changed.set()
        await self.release.wait()
        self.running.discard(key)
        return None

    async def until(self, count: int) -> None:
        async with asyncio.timeout(5):
            while len(self.seen) < count:
                self.changed.clear()
                await self.changed.wait()


async def run(queue: WorkQueue[str], handle: Handle[str], workers: int = 2) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(queue.work(handle)) for _ in range(workers)]


async def stop(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_key_added_often_is_handled_once() -> None:
    queue, handle = WorkQueue[str](), Recorder()
    for _ in range(5):
        queue.add("a")
    queue.add("b")
    tasks = await run(queue, handle)
    await handle.until(2)
    assert sorted(handle.seen) == ["a", "b"]
    await stop(tasks)


async def test_a_key_added_while_it_is_handled_is_handled_once_more_afterwards() -> None:
    queue, handle = WorkQueue[str](), Recorder()
    handle.release.clear()
    tasks = await run(queue, handle)
    queue.add("a")
    await handle.until(1)
    queue.add("a")
    queue.add("a")
    handle.release.set()
    await handle.until(2)
    assert handle.seen == ["a", "a"]
    await stop(tasks)


async def test_other_keys_go_on_while_one_is_stuck() -> None:
    queue, handle = WorkQueue[str](), Recorder()
    handle.release.clear()
    tasks = await run(queue, handle)
    queue.add("a")
    await handle.until(1)
    queue.add("b")
    await handle.until(2)
    assert handle.running == {"a", "b"}
    await stop(tasks)


async def test_the_handler_says_when_it_wants_to_see_the_key_again() -> None:
    queue: WorkQueue[str] = WorkQueue()
    seen: list[str] = []
    enough = asyncio.Event()

    async def handle(key: str) -> float | None:
        seen.append(key)
        if len(seen) == 3:
            enough.set()
        return 0.001

    tasks = await run(queue, handle)
    queue.add("a")
    async with asyncio.timeout(5):
        await enough.wait()
    await stop(tasks)
    queue.close()


@pytest.mark.parametrize("failure", ["an error", "soon"])
async def test_failures_in_a_row_delay_their_key_ever_longer(
    failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue: WorkQueue[str] = WorkQueue()
    delays: list[float] = []
    enough = asyncio.Event()

    def note(key: str, seconds: float) -> None:
        delays.append(seconds)
        enough.set() if len(delays) == 5 else queue.add(key)

    async def handle(key: str) -> float | Literal["soon"] | None:
        if len(delays) == 3:
            return 30.0  # a success forgives
        if failure == "soon":
            return "soon"
        raise RuntimeError("an error")

    monkeypatch.setattr(queue, "add_after", note)
    tasks = await run(queue, handle, workers=1)
    queue.add("a")
    async with asyncio.timeout(5):
        await enough.wait()
    await stop(tasks)
    assert delays[3] == 30.0
    for number, delay in enumerate((*delays[:3], delays[4]), start=1):
        longest = backoff_seconds(1 if number == 4 else number, 0)
        assert longest / 2 <= delay <= longest


async def test_who_no_longer_leads_stops_working() -> None:
    queue: WorkQueue[str] = WorkQueue()

    async def handle(key: str) -> float | None:
        raise NotLeading("lost")

    queue.add("a")
    with pytest.raises(NotLeading):
        await queue.work(handle)


async def test_the_earlier_of_two_delays_counts() -> None:
    queue, handle = WorkQueue[str](), Recorder()
    tasks = await run(queue, handle)
    queue.add_after("a", 0.01)
    queue.add_after("a", 60)
    await handle.until(1)
    await stop(tasks)
    queue.close()


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_back_off_is_bounded_and_never_zero(failures: int, jitter: float) -> None:
    assert FIRST_BACKOFF_SECONDS / 2 <= backoff_seconds(failures, jitter) <= LONGEST_BACKOFF_SECONDS
