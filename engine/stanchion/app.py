"""The App: what an application imports to declare and enqueue jobs, and a worker to find them.

Making one does no I/O. Connections are opened by the first enqueue, one set per process, so an App may be
made before a fork.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from stanchion.call import Call, OnRefused, OptionFields, Options, check_name
from stanchion.definition import JobDefinition
from stanchion.discovery import job_sets
from stanchion.errors import CommandError, InvalidArguments, Refused
from stanchion.jobset import JobSet, name_taken
from stanchion.middleware.registry import Middleware
from stanchion.settings import Settings
from stanchion.verdict import Verdict

if TYPE_CHECKING:
    from stanchion.client import Client


class Deliverer(Protocol):
    """What sends an App's calls: a Client, or a stand-in of a test."""

    def push(self, call: Call) -> Verdict: ...
    async def apush(self, call: Call) -> Verdict: ...
    def push_many(self, calls: Iterable[Call]) -> list[Verdict]: ...
    async def apush_many(self, calls: Iterable[Call]) -> list[Verdict]: ...
    def close(self) -> None: ...
    async def aclose(self) -> None: ...


class App(JobSet):
    """A JobSet of its own (no prefix) that includes others and sends their calls to one Redis.

    `redis_url` and `on_refused` beat `settings`, which by default are the `STANCHION_…` variables.
    Raises InvalidSettings.
    """

    def __init__(
        self,
        redis_url: str | None = None,
        *,
        on_refused: OnRefused | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__()
        self.settings = (settings or Settings.from_environ()).with_redis_url(redis_url)
        if on_refused is not None:
            self.settings = replace(self.settings, on_refused=on_refused)
        self._registry: dict[str, JobDefinition[Any, Any]] = {}
        self.middleware = Middleware()
        self._made: tuple[int, Client] | None = None
        self._stand_in: Deliverer | None = None
        self.attach(self)

    @property
    def registry(self) -> Mapping[str, JobDefinition[Any, Any]]:
        """Every job of this App and the JobSets it includes, by name."""
        return MappingProxyType(self._registry)

    def register(self, definition: JobDefinition[Any, Any]) -> None:
        """Called by JobSets. Raises CommandError for a name that is taken."""
        known = self._registry.setdefault(definition.name, definition)
        if known is not definition:
            raise CommandError(name_taken(definition, known))

    def include(self, *sets: JobSet) -> None:
        """Make the jobs of these sets known and sendable. Raises CommandError for a name that is taken."""
        for jobs in sets:
            jobs.attach(self)

    def discover(self, package: str) -> None:
        """Import `package` and every module named `jobs` under it, and include the JobSets they hold.

        Raises CommandError if there is no such package or no JobSet in it.
        """
        self.include(*job_sets(package))

    def enqueue(self, name: str, args: Sequence[Any] = (), **fields: Unpack[OptionFields]) -> Verdict:
        """Enqueue by name: a producer needs no code. `args` are wire arguments, keyword-only ones in a
        trailing object. A job this App knows is checked against its signature.

        Raises InvalidArguments, Refused or RedisUnavailable.
        """
        return self.send(self.call(name, args, **fields))

    async def aenqueue(self, name: str, args: Sequence[Any] = (), **fields: Unpack[OptionFields]) -> Verdict:
        """As `enqueue`, without blocking the event loop."""
        return await self.asend(self.call(name, args, **fields))

    def call(self, name: str, args: Sequence[Any] = (), **fields: Unpack[OptionFields]) -> Call:
        """A call by name, checked but not sent. Raises InvalidArguments."""
        options = Options.of(**fields)
        if not isinstance(args, Sequence) or isinstance(args, (str, bytes)):
            raise InvalidArguments(f"job {name}: args must be a list of arguments, not {type(args).__name__}")
        definition = self._registry.get(name)
        if definition is not None:
            return definition.bound(definition.bind(*definition.unbind(args)), options)
        return Call.of(check_name(name), args, options=options)

    def enqueue_many(self, calls: Iterable[Call]) -> list[Verdict]:
        """Enqueue calls of any jobs, in order and in bounded chunks; one verdict each, refusals included.

        Raises RedisUnavailable if Redis goes away on the way; earlier chunks are enqueued then.
        """
        _warn_in_event_loop("enqueue_many")
        return self._deliverer.push_many(calls)

    async def aenqueue_many(self, calls: Iterable[Call]) -> list[Verdict]:
        """As `enqueue_many`, without blocking the event loop."""
        return await self._deliverer.apush_many(calls)

    def send(self, call: Call) -> Verdict:
        """Deliver one call. Raises Refused (unless refusals are to be returned) or RedisUnavailable."""
        _warn_in_event_loop("enqueue")
        return self._answer(call, self._deliverer.push(call))

    async def asend(self, call: Call) -> Verdict:
        """As `send`, without blocking the event loop."""
        return self._answer(call, await self._deliverer.apush(call))

    def close(self) -> None:
        """Close this process's blocking connections; the next call opens new ones."""
        self._deliverer.close()

    async def aclose(self) -> None:
        """Close the running event loop's connections; the next call opens new ones."""
        await self._deliverer.aclose()

    @contextmanager
    def delivered_by(self, stand_in: Deliverer) -> Iterator[None]:
        """Inside the block calls go to `stand_in`, not to Redis: what `stanchion.testing` builds on."""
        before, self._stand_in = self._stand_in, stand_in
        try:
            yield
        finally:
            self._stand_in = before

    @property
    def _deliverer(self) -> Deliverer:
        return self._stand_in or self._client

    @property
    def _client(self) -> Client:
        """This process's Client, never a parent's: its lanes would be counted twice, its sockets shared.

        Takes no lock, since a fork could copy it locked; two threads at once may make one Client too many.
        """
        pid = os.getpid()
        made = self._made
        if made is None or made[0] != pid:
            # Imported late: a module that only declares jobs should not pay for loading redis-py.
            from stanchion.client import Client

            made = self._made = (pid, Client(self.settings, self.middleware.client_chain))
        return made[1]

    def _answer(self, call: Call, verdict: Verdict) -> Verdict:
        on_refused = call.options.on_refused or self.settings.on_refused
        if verdict.status == "refused" and on_refused == "raise":
            raise Refused(verdict)
        return verdict


def _warn_in_event_loop(method: str) -> None:
    """A blocking call in a coroutine stops every other one: say so at the caller's line."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:  # never imported, so no loop runs; importing it here would cost every producer
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    warnings.warn(
        f"{method}() blocks the running event loop; use `await … a{method}(…)`",
        RuntimeWarning,
        stacklevel=_caller_depth(),
    )


def _caller_depth() -> int:
    """How many frames up the application's code stands."""
    depth, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("stanchion."):
        depth, frame = depth + 1, frame.f_back
    return depth - 1
