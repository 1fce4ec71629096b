"""Finds JobSets by convention, and an App by name: the only file that imports an application's modules.

`App.discover` and the commands that take MODULE:APP use it. It must never swallow an error of the
application's own code.
"""

from __future__ import annotations

import pkgutil
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from stanchion.errors import CommandError
from stanchion.jobset import JobSet

JOBS_MODULE = "jobs"


def job_sets(package: str) -> list[JobSet]:
    """The JobSets in every module named `jobs` under `package`. Raises CommandError if there is none."""
    found: dict[int, JobSet] = {}
    modules = list(_jobs_modules(package))
    for module in modules:
        for value in vars(module).values():
            # An App is a JobSet too, with its jobs already its own.
            if type(value) is JobSet:
                found[id(value)] = value
    if not found:
        looked = ", ".join(module.__name__ for module in modules) or f"no module named {JOBS_MODULE}"
        raise CommandError(f"discover({package!r}) found no JobSet; it looked in: {looked}")
    return list(found.values())


def import_application(module: str) -> ModuleType:
    """Import one of the application's modules.

    Raises CommandError that tells a missing module from an error in the module's own code, with its line.
    """
    try:
        return import_module(module)
    except Exception as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and (module == missing or module.startswith(missing + ".")):
            raise CommandError(
                f"there is no module {missing!r} on the import path; run the command where the "
                "application lies, or set PYTHONPATH"
            ) from None
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise CommandError(
            f"importing {module} failed: {type(error).__name__}: {error} ({place.filename}:{place.lineno})"
        ) from error


def _jobs_modules(package: str) -> Iterator[ModuleType]:
    root = import_application(package)
    if _is_jobs(package):
        yield root
    for info in pkgutil.walk_packages(getattr(root, "__path__", []), f"{package}.", onerror=_failed):
        if _is_jobs(info.name):
            yield import_application(info.name)


def _is_jobs(module: str) -> bool:
    return module.rpartition(".")[2] == JOBS_MODULE


def _failed(package: str) -> None:
    """walk_packages would pass over a package that cannot be imported, and with it the jobs under it."""
    error = sys.exception()
    raise CommandError(f"importing {package} failed: {type(error).__name__}: {error}") from error
