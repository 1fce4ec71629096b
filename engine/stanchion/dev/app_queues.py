"""The queues of an App's jobs, asked of a process of its own.

Called by `declaration`. Dev never imports the application: so a reload sees what the code says now, and what
an import does to its process (threads, signals, a crash) is done to another. Run as a module it is the child.
"""

from __future__ import annotations

import json
import subprocess
import sys

from stanchion.app_loader import load_app
from stanchion.errors import CommandError, StanchionError

IMPORT_TIMEOUT_SECONDS = 60.0


def queues_of(app: str) -> frozenset[str]:
    """The queues that the jobs of `app` (MODULE:APP) declare. Raises CommandError that says what is wrong."""
    try:
        child = subprocess.run(
            [sys.executable, "-m", __name__, app],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=IMPORT_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"{app} was not imported within {IMPORT_TIMEOUT_SECONDS:g} s") from None
    if child.returncode != 0:
        raise CommandError(child.stderr.strip() or f"importing {app} ended its process")
    # The application may print while it is imported: ours is the last line.
    return frozenset(json.loads(child.stdout.splitlines()[-1]))


def main(app: str) -> int:
    """The child: one line of JSON on standard output, or one of what is wrong on standard error."""
    try:
        queues = {definition.queue for definition in load_app(app).registry.values()}
    except StanchionError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"\n{json.dumps(sorted(queues))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
