from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion_operator.errors import NotLeading
from stanchion_operator.watch.workqueue import (
    FIRST_BACKOFF_SECONDS,
    LONGEST_BACKOFF_SECONDS,
    WorkQueue,
    backoff_seconds,
)

Handle = Callable[[str], Awaitable[float | None]]


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


async def run(queue: WorkQueue[str], handle: Handle, workers: int = 2) -> list[asyncio.Task[None]]:
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


async def test_an_error_delays_its_key_and_a_success_forgives() -> None:
    queue: WorkQueue[str] = WorkQueue()
    delays = [queue.fail("a") for _ in range(4)]
    assert delays[0] <= FIRST_BACKOFF_SECONDS
    assert delays[3] > FIRST_BACKOFF_SECONDS
    handled = asyncio.Event()

    async def handle(key: str) -> float | None:
        handled.set()
        return None

    tasks = await run(queue, handle)
    queue.add("a")
    await handled.wait()
    await asyncio.sleep(0)
    assert queue.fail("a") <= FIRST_BACKOFF_SECONDS
    await stop(tasks)


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
