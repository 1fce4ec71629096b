"""A named group of jobs that needs no App and no Redis: what libraries and `jobs` modules declare.

An App includes JobSets; only then can their jobs be enqueued.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, Unpack, overload

from stanchion.call import NO_OPTIONS, check_queue
from stanchion.definition import JobDefinition, P, R, Sender
from stanchion.errors import CommandError, InvalidArguments, UnknownJob
from stanchion.job_options import JobOptionFields, JobOptions
from stanchion.periodic import Missed, Periodic

NO_KWARGS: Mapping[str, Any] = MappingProxyType({})


class Registry(Sender, Protocol):
    """An App, as its JobSets see it."""

    def register(self, definition: JobDefinition[Any, Any]) -> None: ...


class JobSet:
    """Jobs under one `prefix`, with a default `queue`."""

    def __init__(self, prefix: str = "", queue: str | None = None) -> None:
        self.prefix = prefix
        self.queue = None if queue is None else check_queue(queue)
        self._definitions: dict[str, JobDefinition[Any, Any]] = {}
        self._app: Registry | None = None

    @property
    def definitions(self) -> Mapping[str, JobDefinition[Any, Any]]:
        """The jobs declared here, by name."""
        return MappingProxyType(self._definitions)

    @overload
    def job(self, function: Callable[P, R], /) -> JobDefinition[P, R]: ...

    @overload
    def job(
        self, /, *, name: str | None = None, queue: str | None = None, **fields: Unpack[JobOptionFields]
    ) -> Callable[[Callable[P, R]], JobDefinition[P, R]]: ...

    def job(
        self,
        function: Callable[P, R] | None = None,
        /,
        *,
        name: str | None = None,
        queue: str | None = None,
        **fields: Unpack[JobOptionFields],
    ) -> JobDefinition[P, R] | Callable[[Callable[P, R]], JobDefinition[P, R]]:
        """Declare a function as a job, as `@jobs.job` or `@jobs.job(retries=5)`.

        `name` is the wire's class (default: prefix and function name), `queue` where its calls go (default:
        the set's); the rest is in JobOptions. Raises InvalidArguments for an unfit option or a function
        whose calls could not be checked, CommandError for a name that is taken.
        """
        declared = JobOptions.of(**fields)

        def declare(function: Callable[P, R]) -> JobDefinition[P, R]:
            definition = JobDefinition(
                function,
                self,
                name=name or self.prefix + getattr(function, "__name__", ""),
                queue=queue or self.queue,
                declared=declared,
            )
            self._add(definition)
            return definition

        return declare if function is None else declare(function)

    def periodic(
        self,
        line: str,
        *,
        time_zone: str = "UTC",
        missed: Missed = "skip",
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] = NO_KWARGS,
    ) -> Callable[[JobDefinition[P, R]], JobDefinition[P, R]]:
        """Have a job enqueued at every tick of a cron line, by the App's workers. Stands above `@jobs.job`.

        `line` has five fields (minute hour day-of-month month day-of-week) in `time_zone`. `missed` says what
        becomes of ticks that passed while no worker ran: `skip`, `once` for all of them, or `all`. `args` and
        `kwargs` are the call's. May be repeated. Raises InvalidArguments for what could not run.
        """

        def declare(definition: JobDefinition[P, R]) -> JobDefinition[P, R]:
            if not isinstance(definition, JobDefinition):
                raise InvalidArguments(f"@periodic({line!r}) must stand above @job, not under it")
            try:
                wire_args = definition.bound(definition.bind(args, kwargs), NO_OPTIONS).args
                definition.repeat(Periodic(line, time_zone, missed, tuple(wire_args)))
            except InvalidArguments as error:
                raise InvalidArguments(f"periodic job {definition.name}: {error}") from None
            return definition

        return declare

    def attach(self, app: Registry) -> None:
        """Called by `App.include`. Raises CommandError if another App has this set already."""
        if self._app is not None and self._app is not app:
            raise CommandError(
                f"the JobSet {self.prefix!r} is included in another App; a job is sent by one App only"
            )
        for definition in self._definitions.values():
            app.register(definition)
        self._app = app

    def sender_of(self, job_name: str) -> Sender:
        """The App that includes this set. Raises UnknownJob if none does."""
        if self._app is None:
            raise UnknownJob(
                f"job {job_name} is in a JobSet that no App includes; call app.include(…) or "
                "app.discover('package') before enqueueing, in the process that enqueues"
            )
        return self._app

    def _add(self, definition: JobDefinition[Any, Any]) -> None:
        if definition.name in self._definitions:
            raise CommandError(name_taken(definition, self._definitions[definition.name]))
        if self._app is not None:
            self._app.register(definition)
        self._definitions[definition.name] = definition


def name_taken(new: JobDefinition[Any, Any], old: JobDefinition[Any, Any]) -> str:
    """The message for two jobs of one name."""
    places = " and ".join(f"{d.function.__module__}.{d.function.__qualname__}" for d in (old, new))
    return f"two jobs are named {new.name!r}: {places}; give one of them name=… or another prefix"
