"""Do the paths of a policy fit the jobs they are for? Compares `tenantFrom` and lock keys with signatures.

Called by `stanchion check --app`. A path that no call can have is the usual reason for a lock that never
fires, or one that makes all calls the same; it is found here before anything runs. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from inspect import Parameter
from typing import Any

from stanchion.admin.reading import Declared, place
from stanchion.app import App
from stanchion.binding import Binding
from stanchion.errors import InvalidPolicy
from stanchion.manifest.problem import Problem
from stanchion.policy import paths
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.match import matches_any
from stanchion.policy.queue_policy import QueuePolicy

Jobs = Mapping[str, Binding]


def check_paths(declared: Iterable[Declared], app: App) -> tuple[Problem, ...]:
    """Problems of every path into arguments that the App's jobs cannot have."""
    return tuple(place(each.manifest, error) for each in declared for error in _errors(each.policy, app))


def _errors(policy: object, app: App) -> Iterator[InvalidPolicy]:
    if isinstance(policy, QueuePolicy):
        for index, source in enumerate(policy.tenant_from):
            jobs = _jobs(app, (policy.queue,), source.jobs or ("*",))
            yield from _fits_some(source.path, f"spec.tenantFrom[{index}].path", jobs)
    elif isinstance(policy, LockPolicy):
        jobs = _jobs(app, policy.match.queues, policy.match.jobs)
        for index, path in enumerate(policy.key.include or ()):
            yield from _fits_all(path, f"spec.key.include[{index}]", jobs)
        for index, path in enumerate(policy.key.exclude or ()):
            yield from _fits_some(path, f"spec.key.exclude[{index}]", jobs)


def _jobs(app: App, queues: Iterable[str], names: Iterable[str]) -> Jobs:
    return {
        name: definition.binding
        for name, definition in app.registry.items()
        if matches_any(queues, definition.queue) and matches_any(names, name)
    }


def _fits_all(text: str, field: str, jobs: Jobs) -> Iterator[InvalidPolicy]:
    """An included path that one job lacks would make all calls of that job the same."""
    for binding in jobs.values():
        if why := _misfit(paths.parse(text, field), binding):
            yield InvalidPolicy(field, f"{text}: {why}; all its calls would count as the same")


def _fits_some(text: str, field: str, jobs: Jobs) -> Iterator[InvalidPolicy]:
    """Elsewhere a path may be for one job of many; it is wrong only if it is for none."""
    misfits = [_misfit(paths.parse(text, field), binding) for binding in jobs.values()]
    if misfits and all(misfits):
        yield InvalidPolicy(field, f"{text}: {misfits[0]}")


def _misfit(path: paths.Path, binding: Binding) -> str:
    """Why no call of the job can have the path; "" if one can, as far as a signature tells."""
    number = path.argument
    if number is None or binding.is_variadic:
        return ""
    positional = len(binding.positional)
    if number < positional:
        return _annotation_misfit(path, binding.positional[number], binding)
    if number > positional or not binding.keyword_only:
        count = positional + bool(binding.keyword_only)
        return (
            f"{binding} has {count} argument(s), the last is args[{count - 1}]"
            if count
            else (f"{binding} has no arguments")
        )
    name = path.steps[2] if len(path.steps) > 2 else None
    if name is None or name in binding.keyword_only:
        return ""
    known = ", ".join(sorted(binding.keyword_only))
    return f"args[{number}] of {binding} holds its keyword-only arguments: {known}"


def _annotation_misfit(path: paths.Path, parameter: Parameter, binding: Binding) -> str:
    """A path into an argument that is annotated as a plain scalar finds nothing there."""
    scalars: dict[Any, str] = {kind: kind.__name__ for kind in (int, float, str, bool)}
    scalars |= {name: name for name in scalars.values()}  # annotations are text under `from __future__`
    scalar = scalars.get(parameter.annotation)
    if scalar is None or len(path.steps) == 2:
        return ""
    return f"{parameter.name} of {binding} is of type {scalar}, there is nothing inside it"
