"""The job of a name in an App, or an error that names the one that was meant.

Called by `stanchion enqueue --app` and `explain --app`: a slip of a name would wait in a queue for ever.
"""

from __future__ import annotations

import difflib
from typing import Any

from stanchion.app import App
from stanchion.definition import JobDefinition
from stanchion.errors import UnknownJob

SHOWN_JOBS = 20


def known_job(app: App, name: str) -> JobDefinition[Any, Any]:
    """Raises UnknownJob if the App has no job of that name."""
    definition = app.registry.get(name)
    if definition is not None:
        return definition
    close = difflib.get_close_matches(name, app.registry, 3)
    known = ", ".join(sorted(app.registry)[:SHOWN_JOBS]) or "none"
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"it has {known}"
    raise UnknownJob(f"the app has no job named {name!r}; {hint}")
