"""The server's chain: functions around each run of a job, outermost first.

An async middleware runs on the event loop and awaits `call_next()`; a plain one runs in the job's thread and
calls it. Both kinds stand around both kinds of jobs, the async ones outside. What the job raises comes out
of `call_next()`; what a middleware raises is the job's outcome, as if the job had raised it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from stanchion.job import Job

AsyncMiddleware = Callable[[Job, Callable[[], Awaitable[None]]], Awaitable[None]]
PlainMiddleware = Callable[[Job, Callable[[], None]], None]
ServerMiddleware = AsyncMiddleware | PlainMiddleware


@dataclass(frozen=True, slots=True)
class ServerChain:
    """What stands around every job of an App, in order of registration."""

    on_loop: tuple[AsyncMiddleware, ...] = ()
    in_thread: tuple[PlainMiddleware, ...] = ()

    @classmethod
    def of(cls, middleware: Iterable[ServerMiddleware]) -> ServerChain:
        """Part the kinds."""
        on_loop: list[Any] = []
        in_thread: list[Any] = []
        for one in middleware:
            (on_loop if is_async(one) else in_thread).append(one)
        return cls(tuple(on_loop), tuple(in_thread))


def is_async(middleware: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await; an object counts by its `__call__`."""
    call = middleware if inspect.isroutine(middleware) else type(middleware).__call__
    return inspect.iscoroutinefunction(call)


def around(chain: Iterable[Callable[..., Any]], job: Job, innermost: Callable[[], Any]) -> Callable[[], Any]:
    """`innermost` with middleware of one kind around it, the first outermost."""
    call = innermost
    for middleware in reversed(tuple(chain)):
        call = functools.partial(middleware, job, call)
    return call
