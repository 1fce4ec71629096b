"""`stanchion dev`: the declared config, local workers that scale, a view, and a reload on every change.

Called by the command line with a Redis that runs. Ctrl-C drains, a second one stops now. Nothing here
decides how many workers run: that is the law, in each group's runner.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import redis.asyncio
from redis.exceptions import RedisError

from stanchion.dev import declaration, strays
from stanchion.dev.config_keeper import ConfigKeeper
from stanchion.dev.declaration import Declaration
from stanchion.dev.fleet import Fleet
from stanchion.dev.group import TICK_SECONDS, Group
from stanchion.dev.group_runner import GroupRunner
from stanchion.dev.leash import Leash
from stanchion.dev.reload import Changed, changes
from stanchion.dev.run_options import RunOptions
from stanchion.dev.screen import Screen
from stanchion.dev.status import QueueStatus, RunStatus
from stanchion.dev.strays import Strays
from stanchion.dev.view import unserved_line
from stanchion.errors import StanchionError
from stanchion.store import connection, queues
from stanchion.store.queues import SetSizes

IDLE_SECONDS = 3.0
"""A job between its queue and the next heartbeat is in no figure: idle must last longer than a beat."""


class Runner:
    """One run, from the first config hash to the last worker's end."""

    def __init__(
        self,
        options: RunOptions,
        client: redis.asyncio.Redis,
        leash: Leash,
        screen: Screen,
        check_redis: Callable[[], None],
    ) -> None:
        self._options = options
        self._client = client
        self._leash = leash
        self._screen = screen
        self._check_redis = check_redis
        self._groups: dict[str, GroupRunner] = {}
        self._strays = Strays()
        self._set_sizes = SetSizes()
        self._config = ConfigKeeper(client, screen.tell, partial(screen.tell, alarming=True))
        self._leaving: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()
        self._stop_now = asyncio.Event()

    async def run(self, declared: Declaration) -> bool:
        """Run until told to stop, or until idle; then drain. False if a second signal cut the drain short.

        Raises CommandError if the config cannot be applied, StanchionError if our own Redis ends.
        """
        self._hear_signals()
        await self._obey(declared)
        background = [
            asyncio.create_task(self._reload(Path.cwd())),
            asyncio.create_task(self._config.keep()),
        ]
        try:
            await self._work()
        except StanchionError:
            self._screen.tell("redis", "it ended; the workers drain, then the reason follows", alarming=True)
            raise
        finally:
            for task in background:
                task.cancel()
            await self._end()
        return not self._stop_now.is_set()

    def _hear_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._heed)

    def _heed(self) -> None:
        (self._stop_now if self._stop.is_set() else self._stop).set()

    async def _work(self) -> None:
        while not self._stop.is_set():
            self._check_redis()
            await asyncio.gather(*(group.tick() for group in self._groups.values()))
            await self._look_for_strays()
            self._show()
            if self._screen.is_closed:
                return
            if self._options.once and self._is_idle():
                self._tell_unserved()
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), TICK_SECONDS)

    def _is_idle(self) -> bool:
        """Nothing is left to do for the workers we run; a queue that nobody serves here never counts."""
        served = [group for group in self._groups.values() if group.fleet is not None]
        return all(group.idle_seconds >= IDLE_SECONDS for group in served)

    async def _look_for_strays(self) -> None:
        """A Redis that cannot be read is told by the groups; what was seen last stays in sight."""
        declared = {queue for group in self._groups.values() for queue in group.group.queues}
        with suppress(RedisError):
            self._set_sizes = await queues.set_sizes_async(self._client)
            self._strays = await strays.find(self._client, declared)

    def _tell_unserved(self) -> None:
        for row in (*self._rows(), *self._strays.shown):
            if row.unserved:
                self._screen.tell("left", unserved_line(row), alarming=True)

    async def _end(self) -> None:
        """Drain every worker; a second signal kills them."""
        self._stop.set()
        ends = [asyncio.create_task(group.fleet.drain()) for group in self._groups.values() if group.fleet]
        ends += self._leaving
        told = asyncio.create_task(self._stop_now.wait())
        pending: set[asyncio.Task[None]] = set(ends)
        while pending and not told.done():
            await self._show_anew()
            _, pending = await asyncio.wait(pending, timeout=TICK_SECONDS)
        told.cancel()
        if pending:
            await asyncio.gather(*(group.fleet.kill() for group in self._groups.values() if group.fleet))
            await asyncio.wait(pending)
        await self._show_anew()

    async def _show_anew(self) -> None:
        """A Redis that does not answer must not keep a second signal waiting."""
        with suppress(TimeoutError):
            async with asyncio.timeout(TICK_SECONDS):
                await asyncio.gather(*(group.look() for group in self._groups.values()))
        self._show()

    def _rows(self) -> tuple[QueueStatus, ...]:
        return tuple(row for group in self._groups.values() for row in group.statuses())

    def _show(self) -> None:
        self._screen.show(
            RunStatus(
                self._options.redis_url,
                self._rows(),
                strays=self._strays.shown,
                further_strays=self._strays.further,
                set_sizes=self._set_sizes,
                draining=self._stop.is_set(),
            )
        )

    async def _reload(self, code: Path) -> None:
        """Obey changed manifests, restart workers on changed code; keep the last good set on an error."""
        try:
            async for changed in changes(self._options.paths, code):
                # Code that --app names also says which queues there are.
                is_good = True
                if changed.manifests or (changed.code and self._options.app):
                    is_good = await self._obey_again(changed)
                if changed.code and is_good:
                    self._screen.tell("reload", "code changed: the workers are replaced")
                    await self._replace_workers()
        except (OSError, RuntimeError) as error:  # the folder is gone, or the system has no watches left
            self._screen.tell("reload", f"changes are no longer seen: {error}", alarming=True)

    async def _obey_again(self, changed: Changed) -> bool:
        """False if what is declared now was refused; then all stays as it was."""
        try:
            with connection.readable_errors(self._options.redis_url):
                declared = await asyncio.to_thread(declaration.read, self._options.paths, self._options.app)
                await self._obey(declared)
        except StanchionError as error:
            self._screen.tell("reload", f"the last good set stays: {error}", alarming=True)
            return False
        if changed.manifests:
            self._screen.tell("reload", "the manifests changed and are obeyed")
        return True

    async def _replace_workers(self) -> None:
        for group in self._groups.values():
            if group.fleet is not None:
                await group.fleet.replace(group.fleet.command)

    async def _obey(self, declared: Declaration) -> None:
        """Write the config hashes, then make the groups those of the declaration."""
        groups = self._options.groups(declared)
        await self._config.write(declared.policies)
        for notice in (*declared.notices, *(notice for group in groups for notice in group.notices)):
            self._screen.tell("notice", notice)
        await self._regroup({group.key: group for group in groups})

    async def _regroup(self, groups: Mapping[str, Group]) -> None:
        for key in self._groups.keys() - groups.keys():
            fleet = self._groups.pop(key).fleet
            if fleet is not None:
                leaving = asyncio.create_task(fleet.drain())
                self._leaving.add(leaving)
                leaving.add_done_callback(self._leaving.discard)
        for key, group in groups.items():
            if key in self._groups:
                await self._groups[key].change(group, self._fleet(group))
            else:
                self._groups[key] = GroupRunner(group, self._fleet(group), self._client, self._screen.tell)

    def _fleet(self, group: Group) -> Fleet | None:
        if group.command is None:
            return None
        return Fleet(group.policy.queue, group.command, self._leash, self._screen.tell_output)
