"""Finds the App a command line names as MODULE:ATTRIBUTE, e.g. `shop.jobs:app`."""

from __future__ import annotations

import os
import sys

from stanchion.app import App
from stanchion.discovery import import_application
from stanchion.errors import CommandError


def load_app(path: str, *, redis_url: str | None = None) -> App:
    """Import the module and return its App. The working directory is importable, as under `python -m`.

    A `redis_url` given on the command line beats what the application states.

    Raises CommandError saying what is wrong and what to do.
    """
    module_name, colon, attribute = path.partition(":")
    if not (module_name and colon and attribute):
        raise CommandError(f"{path!r} names no App; write MODULE:ATTRIBUTE, e.g. shop.jobs:app")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    module = import_application(module_name)
    value = getattr(module, attribute, None)
    if isinstance(value, App):
        value.settings = value.settings.with_redis_url(redis_url)
        return value
    apps = ", ".join(f"{module_name}:{name}" for name, item in vars(module).items() if isinstance(item, App))
    hint = f"did you mean {apps}?" if apps else "it holds no stanchion.App at all"
    if value is None:
        raise CommandError(f"{module_name} has no attribute {attribute!r}; {hint}")
    raise CommandError(f"{path} is a {type(value).__name__}, no stanchion.App; {hint}")
