"""Keeps the children of one supervisor alive: starts them, buries those that end, and starts successors.

A child that dies takes up to all its slots of jobs with it, and one of them may be the cause. Its successor
therefore runs one job at a time until the returned ones have been through (probation).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import Iterator
from random import Random

from redis.exceptions import RedisError

from stanchion import metrics
from stanchion.errors import CommandError
from stanchion.store import membership, recovery
from stanchion.store.recovery import Member, Returned
from stanchion.worker import exit_codes
from stanchion.worker.backoff import Outage, delay_seconds
from stanchion.worker.handle import Handle
from stanchion.worker.life import Life

STEADY_SECONDS = 10.0
"""A child that lived this long has started well: the next death is not one in a row."""
LONGEST_RESTART_SECONDS = 30.0
PROBATION_SECONDS = 600.0
"""A returned job that nobody has run after this long (deleted, or its queue paused) ends probation."""
LAST_REPORT_SECONDS = 1.0
DRAIN_GRACE_SECONDS = 4.0
"""What a child may take beyond its drain time-out to record what ended, before it is killed."""

log = logging.getLogger("stanchion.worker")


class Crew:
    """The children of one life."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._children: dict[int, Handle] = {}
        self._suspects: dict[int, tuple[frozenset[str], float]] = {}
        self._members: set[Member] = set()
        self._drain_until = 0.0

    def __iter__(self) -> Iterator[Handle]:
        """The children that work now."""
        return iter(tuple(self._children.values()))

    def __len__(self) -> int:
        return len(self._children)

    @property
    def is_ready(self) -> bool:
        """Every child has had its first trip answered."""
        wanted = self._life.options.processes
        return len(self) == wanted and all(child.answered for child in self)

    def look(self) -> None:
        """Have every child make a trip: pause or configuration changed."""
        self._order("look")

    def quiet(self) -> None:
        """Have every child take no more jobs. There is no way back."""
        self._life.is_quiet = True
        self._order("quiet")

    def cancel(self, jid: str) -> None:
        """Have whichever child runs this job end it early."""
        self._order("cancel", jid=jid)

    def dump(self) -> None:
        """Have every child print its stacks to stderr."""
        self._order("dump")

    def drain(self, seconds: float) -> None:
        """Quiet, and end every child once its jobs have, at most `seconds` from now."""
        self._life.is_quiet = True
        self._life.stopping.set()
        self._drain_until = time.monotonic() + seconds
        self._order("drain", seconds=seconds)

    def kill(self) -> None:
        """End every child at once; what they hold is returned."""
        for child in self:
            child.kill()

    async def abandon(self) -> None:
        """The process was declared dead: end the children, and return what nobody returned for them."""
        self.kill()
        for member in tuple(self._members):
            await self._retire(member, counted=False)

    async def keep(self, place: int, first: Handle | None = None) -> None:
        """Run children in one place, one after the other, until the worker stops."""
        failures = 0
        while not self._life.stopping.is_set():
            started = time.monotonic()
            failed = await self._live(place, first)
            first = None
            if time.monotonic() - started > STEADY_SECONDS:
                failures = 0
            failures = failures + 1 if failed else 0
            pause = restart_pause_seconds(failures, self._life.rng)
            if pause and not self._life.stopping.is_set():
                log.warning(
                    "child %d ended %d times in a row; the next starts in %.1f s", place, failures, pause
                )
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._life.stopping.wait(), pause)

    async def bury_strangers(self) -> None:
        """Return what is listed under this process and is no child of it: a fail-over forgot a burial.

        No observer would: this process beats.
        """
        for member in await recovery.members(self._life.client, self._life.identity, ""):
            if member not in self._members:
                await recovery.retire(self._life.client, member, counted=False, now=time.time())
                log.warning("an incarnation that had ended was listed again and is buried again")

    async def probation(self) -> None:
        """Give a successor its slots back once the jobs it is suspected over have been through."""
        for place, (jids, since) in tuple(self._suspects.items()):
            watched = await recovery.under_watch(self._life.client, sorted(jids))
            child = self._children.get(place)
            if (not watched or time.monotonic() - since > PROBATION_SECONDS) and child is not None:
                del self._suspects[place]
                child.set_slots(self._life.options.concurrency)
                log.info("child %d has all its slots again", place)

    async def _live(self, place: int, first: Handle | None) -> bool:
        """One life of one child, from start to burial. Returns whether it failed."""
        child = first or await Handle.spawn(self._life.options, place)
        try:
            if first is None and not await self._loaded(child):
                return False
            if not await self._register(child):
                return False
            self._begin(place, child)
            code = await self._follow(child)
        except CommandError as error:
            log.error("child %d cannot start: %s", place, error)
            self._life.tally.add(metrics.CHILD_ENDS, "not_loaded")
            return True
        finally:
            self._children.pop(place, None)
            child.kill()
            await child.ended()
        return await self._bury(place, child, code)

    async def _loaded(self, child: Handle) -> bool:
        """Wait until it has the app. False if the worker stops first: an import that hangs holds up no drain.

        Raises CommandError if the app cannot be loaded.
        """
        loaded = asyncio.ensure_future(child.loaded())
        stopping = asyncio.ensure_future(self._life.stopping.wait())
        try:
            await asyncio.wait({loaded, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return loaded.done() and bool(loaded.result())
        finally:
            loaded.cancel()
            stopping.cancel()

    async def _register(self, child: Handle) -> bool:
        """List it in Redis before it works. False if the worker stops while Redis is away."""
        life, outage = self._life, Outage(log, "registering a child", self._life.rng)
        self._members.add(self._member(child))
        while not life.stopping.is_set():
            try:
                await membership.register(
                    life.client, life.identity, child.incarnation, life.options.queue_names
                )
            except (RedisError, OSError) as error:
                await outage.wait(error)
                continue
            outage.over()
            return True
        return False

    def _begin(self, place: int, child: Handle) -> None:
        slots = 1 if place in self._suspects else self._life.options.concurrency
        child.begin(slots, is_quiet=self._life.is_quiet)
        self._children[place] = child
        if self._life.stopping.is_set():
            child.order("drain", seconds=max(0.0, self._drain_until - time.monotonic()))

    async def _follow(self, child: Handle) -> int:
        """Take in its reports until it ends; kill it when it outstays its drain. Returns the exit code."""
        ended = asyncio.ensure_future(child.ended())
        reports = asyncio.ensure_future(self._take_in(child))
        outstay = asyncio.ensure_future(self._outstayed())
        try:
            await asyncio.wait({ended, outstay}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                log.error("a child did not end in time and is killed; its jobs go back to their queues")
                child.kill()
            code = await ended
            await asyncio.wait({reports}, timeout=LAST_REPORT_SECONDS)
            return code
        finally:
            for task in (ended, reports, outstay):
                task.cancel()

    async def _take_in(self, child: Handle) -> None:
        try:
            async for entries in child.tallies():
                self._life.tally.merge(entries)
        except Exception:
            # Unheard, its finished jobs would count as held for ever, and nobody would know why.
            log.exception("the reports of child %d cannot be read; it is killed", child.process.pid)
            child.kill()

    async def _outstayed(self) -> None:
        await self._life.stopping.wait()
        await asyncio.sleep(max(0.0, self._last_moment - time.monotonic()))

    @property
    def _last_moment(self) -> float:
        return self._drain_until + DRAIN_GRACE_SECONDS

    async def _bury(self, place: int, child: Handle, code: int) -> bool:
        """Return what an ended child held. Returns whether it failed."""
        reason = end_reason(code, is_stopping=self._life.stopping.is_set())
        self._life.tally.add(metrics.CHILD_ENDS, reason)
        returned = await self._retire(self._member(child), counted=reason == "died", is_empty=not child.held)
        if returned.jids or returned.quarantined:
            log.warning(
                "child %d %s: %d job(s) went back to their queues, %d quarantined",
                place, reason, len(returned.jids) - returned.quarantined, returned.quarantined,
            )  # fmt: skip
        if reason == "died":
            log.error("child %d (pid %d) died: %s", place, child.process.pid, describe(code))
            if returned.jids:
                self._suspects[place] = (returned.jids, time.monotonic())
        return reason == "died"

    async def _retire(self, member: Member, *, counted: bool, is_empty: bool = False) -> Returned:
        """Return its jobs, however long Redis is away; a worker that stops leaves that to the observers, at
        once where its child said that it holds nothing.
        """
        outage = Outage(log, "returning the jobs of a child", self._life.rng)
        while True:
            try:
                returned = await recovery.retire(self._life.client, member, counted=counted, now=time.time())
            except (RedisError, OSError) as error:
                if self._life.stopping.is_set() and is_empty:
                    return Returned(frozenset(), 0)
                if self._life.stopping.is_set() and time.monotonic() > self._last_moment:
                    log.error("jobs could not be returned, other workers will do it: %s", error)
                    return Returned(frozenset(), 0)
                await outage.wait(error)
                continue
            outage.over()
            self._members.discard(member)
            self._life.tally.add(metrics.RETURNED, "child", amount=len(returned.jids))
            self._life.tally.add(metrics.QUARANTINED, amount=returned.quarantined)
            return returned

    def _member(self, child: Handle) -> Member:
        return Member(self._life.identity, child.incarnation, self._life.options.queue_names)

    def _order(self, do: str, **details: float | str) -> None:
        for child in self:
            child.order(do, **details)


def restart_pause_seconds(failures: int, rng: Random) -> float:
    """How long a place stays empty after so many children in a row ended badly.

    The first successor starts at once; then 0.8 s, doubling to 30 s, each times a random 0.5 to 1.
    """
    return delay_seconds(failures + 3, rng, LONGEST_RESTART_SECONDS) if failures > 1 else 0.0


def end_reason(code: int, *, is_stopping: bool) -> str:
    """Why a child ended: `drained` as asked, `fenced` by a recovery, `not_loaded`, or it `died`."""
    if code == exit_codes.FENCED:
        return "fenced"
    if code == exit_codes.NOT_LOADED:
        return "not_loaded"
    return "drained" if is_stopping else "died"


def describe(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
    return f"killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
