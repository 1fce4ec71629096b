"""A declared job: the function, its name and settings, and the ways to call it.

`@jobs.job` makes one. A plain call runs the function here and now; `enqueue` sends the call to Redis through
the App that includes the job's JobSet. The worker uses `function` and `unbind`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, Unpack

from stanchion.binding import Binding
from stanchion.call import NO_OPTIONS, Call, OptionFields, Options, check_name, check_queue
from stanchion.errors import CommandError, InvalidArguments
from stanchion.job import DEFAULT_QUEUE
from stanchion.job_options import JobOptions
from stanchion.periodic import Periodic, entry_id
from stanchion.verdict import Verdict

P = ParamSpec("P")
R = TypeVar("R")


class Sender(Protocol):
    """Who delivers calls: an App."""

    def send(self, call: Call) -> Verdict: ...

    async def asend(self, call: Call) -> Verdict: ...


class Owner(Protocol):
    """What a definition was declared in: a JobSet, which knows its App once included."""

    def sender_of(self, job_name: str) -> Sender: ...


class JobDefinition(Generic[P, R]):
    """One job. `queue` and `declared` are what code states; a policy or a call may override them."""

    __name__: str

    def __init__(
        self,
        function: Callable[P, R],
        owner: Owner,
        *,
        name: str,
        queue: str | None = None,
        declared: JobOptions,
    ) -> None:
        self.name = check_name(name)
        _check_function(function, name)
        self.function = function
        self.queue = DEFAULT_QUEUE if queue is None else check_queue(queue)
        self.declared = declared
        self.is_async = inspect.iscoroutinefunction(function)
        self.binding = Binding.of(function, name)
        self.periodic: list[Periodic] = []
        """When it is enqueued by itself."""
        self._owner = owner
        functools.update_wrapper(self, function, updated=())

    @property
    def retries(self) -> bool | int | None:
        """As the decorator states; None if it does not."""
        return self.declared.retries

    def repeat(self, periodic: Periodic) -> None:
        """Have it enqueued at every tick. Raises CommandError if it is at these ticks already."""
        entries = {entry_id(self.name, self.queue, other) for other in self.periodic}
        if entry_id(self.name, self.queue, periodic) in entries:
            raise CommandError(
                f"job {self.name} is periodic at {periodic.line!r} twice, with the same arguments"
            )
        self.periodic.append(periodic)

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function here; nothing is enqueued."""
        return self.function(*args, **kwargs)

    def enqueue(self, /, *args: P.args, **kwargs: P.kwargs) -> Verdict:
        """Send this call to its queue. Raises InvalidArguments, Refused, RedisUnavailable or UnknownJob."""
        return self._owner.sender_of(self.name).send(self.call(*args, **kwargs))

    async def aenqueue(self, /, *args: P.args, **kwargs: P.kwargs) -> Verdict:
        """As `enqueue`, without blocking the event loop."""
        return await self._owner.sender_of(self.name).asend(self.call(*args, **kwargs))

    def call(self, /, *args: P.args, **kwargs: P.kwargs) -> Call:
        """This call, checked but not sent: for `app.enqueue_many`. Raises InvalidArguments."""
        return self.bound(self.bind(args, kwargs), NO_OPTIONS)

    def options(self, **fields: Unpack[OptionFields]) -> JobWithOptions[P]:
        """The same job with options for the next call, e.g. `job.options(delay=30).enqueue(7)`."""
        return JobWithOptions(self, Options.of(**fields))

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Wire arguments of a call. Raises InvalidArguments."""
        return self.binding.bind(args, kwargs)

    def unbind(self, wire_args: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The call a payload asks for. Raises UnfitPayload if it does not fit the signature."""
        return self.binding.unbind(wire_args)

    def bound(self, wire_args: Sequence[Any], options: Options) -> Call:
        """A call from wire arguments that fit. Raises InvalidArguments for what JSON cannot carry."""
        return Call.of(
            self.name,
            wire_args,
            queue=self.queue,
            retries=self.declared.retries,
            wire_fields=self.declared.wire_fields,
            expires_in_seconds=self.declared.expires_in_seconds,
            options=options,
        )

    def send(self, call: Call) -> Verdict:
        """Deliver a call of this job through its App."""
        return self._owner.sender_of(self.name).send(call)

    async def asend(self, call: Call) -> Verdict:
        """As `send`, without blocking the event loop."""
        return await self._owner.sender_of(self.name).asend(call)

    def __repr__(self) -> str:
        return f"<{self.binding}>"


class JobWithOptions(Generic[P]):
    """A job and the options of its next call; made by `options`, safe to keep and reuse without `jid`."""

    def __init__(self, definition: JobDefinition[P, Any], options: Options) -> None:
        self._definition = definition
        self._options = options

    def enqueue(self, /, *args: P.args, **kwargs: P.kwargs) -> Verdict:
        """As JobDefinition.enqueue, with the options."""
        return self._definition.send(self.call(*args, **kwargs))

    async def aenqueue(self, /, *args: P.args, **kwargs: P.kwargs) -> Verdict:
        """As JobDefinition.aenqueue, with the options."""
        return await self._definition.asend(self.call(*args, **kwargs))

    def call(self, /, *args: P.args, **kwargs: P.kwargs) -> Call:
        """As JobDefinition.call, with the options."""
        return self._definition.bound(self._definition.bind(args, kwargs), self._options)


def _check_function(function: Callable[..., Any], name: str) -> None:
    if not callable(function):
        raise InvalidArguments(f"job {name}: {function!r} is no function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidArguments(f"job {name}: a generator would never run; use a plain or an async function")
