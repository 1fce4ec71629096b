"""The stage the acts play on: both sides under one clock, with what an act may do to them.

A background loop measures, scales and draws; acts push load, kill, and wait. It must never touch a figure:
what is shown is what was read.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime

import redis.asyncio

from stanchion.dev import leash
from stanchion.dev.demo.curtain import Curtain
from stanchion.dev.demo.load import Load
from stanchion.dev.demo.scene import Scene
from stanchion.dev.demo.side import Reading, Side
from stanchion.dev.group import TICK_SECONDS, Group
from stanchion.dev.group_runner import GroupRunner

FRAME_SECONDS = 0.25

Act = Callable[["Stage"], Awaitable[None]]


class Stage:
    """Both queues, their workers, and the scene."""

    def __init__(
        self,
        client: redis.asyncio.Redis,
        load: Load,
        curtain: Curtain,
        *,
        gated: Side,
        plain: Side,
        group: Group,
        began_at: float,
    ) -> None:
        self.load = load
        self.gated = gated
        self.plain = plain
        self._client = client
        self._curtain = curtain
        self._scaler = GroupRunner(group, gated.fleet, client, self._announce)
        self._scene = Scene()
        self._frames = 0
        self._began_at = began_at
        self.first_run_seconds: float | None = None
        """From the start of the command (`began_at`, monotonic) to the first frame with a gated job run."""

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The gated side, then the plain one, as last measured."""
        return self._scene.sides

    def narrate(self, title: str, *words: str) -> None:
        """What the audience should know now."""
        self._scene = replace(self._scene, title=title, words=words)

    def add(self, *words: str) -> None:
        """More words to the same act."""
        self._scene = replace(self._scene, words=(*self._scene.words, *words))

    def _announce(self, queue: str, decision: str) -> None:
        """The autoscaler changed a number."""
        self._scene = replace(self._scene, decision=f"{queue}: {decision}")

    async def play(self, acts: Sequence[Act]) -> None:
        """All acts in order, and one last frame. Raises what the acts or the background loop raise."""
        await self._draw()
        background = asyncio.create_task(self._keep_running())
        performance = asyncio.create_task(self._perform(acts))
        try:
            await asyncio.wait((background, performance), return_when=asyncio.FIRST_COMPLETED)
            if background.done():
                await background
            await performance
        finally:
            for task in (background, performance):
                task.cancel()
            await asyncio.gather(background, performance, return_exceptions=True)
        await self._draw()

    async def _perform(self, acts: Sequence[Act]) -> None:
        for act in acts:
            await act(self)

    async def _keep_running(self) -> None:
        """Measure and draw every frame, scale every tick; until cancelled."""
        next_tick_at = 0.0
        while True:
            if time.monotonic() >= next_tick_at:
                next_tick_at = time.monotonic() + TICK_SECONDS
                await self._scaler.tick()
                await self.plain.fleet.adjust({})
            await self._draw()
            await asyncio.sleep(FRAME_SECONDS)

    async def _draw(self) -> None:
        sides = [await side.measure(self._client) for side in (self.gated, self.plain)]
        self._scene = self._scene.with_sides(*sides)
        if self.first_run_seconds is None and sides[0].count.ran:
            self.first_run_seconds = time.monotonic() - self._began_at
            at = f"{datetime.now():%H:%M:%S}"
            self.add(f"The first job had run {self.first_run_seconds:.1f} s after the start, at {at}.")
        self._curtain.show(self._scene)
        self._frames += 1

    async def until(self, condition: Callable[[Reading, Reading], bool], timeout_seconds: float) -> bool:
        """Wait for a frame on which the condition holds; False if none came in time.

        Only frames that were begun after the call count: an older one would not show what was just done.
        """
        deadline = time.monotonic() + timeout_seconds
        first_new = self._frames + 2
        while time.monotonic() < deadline:
            if self._frames >= first_new and condition(*self.readings):
                return True
            await asyncio.sleep(FRAME_SECONDS / 2)
        return False

    async def settled(self, side: Side, *, quiet_seconds: float, timeout_seconds: float) -> None:
        """Wait until every job of a side has run, or nothing waits and for so long nothing has ended."""
        last_ran, changed_at = -1, time.monotonic()

        def is_settled(*readings: Reading) -> bool:
            nonlocal last_ran, changed_at
            (reading,) = (each for each in readings if each.name == side.name)
            if reading.count.ran != last_ran or reading.waiting:
                last_ran, changed_at = reading.count.ran, time.monotonic()
            return reading.count.missing == 0 or time.monotonic() - changed_at > quiet_seconds

        await self.until(is_settled, timeout_seconds)

    def kill_worker(self, side: Side) -> None:
        """SIGKILL the oldest worker of a side with all its processes: no handler, no clean-up."""
        leash.send(side.fleet.pids[0], signal.SIGKILL)
