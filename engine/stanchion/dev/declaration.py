"""What `dev` was asked to run: manifests, judged as the API server would, and the queues of an app.

Reading is all or nothing: one bad manifest refuses the whole set, so that a half-applied state never runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stanchion.admin import reading
from stanchion.dev.app_queues import queues_of
from stanchion.errors import CommandError
from stanchion.policy import enforcement
from stanchion.policy.contract import Config
from stanchion.policy.owner import DEFAULT_NAMESPACE, Owner
from stanchion.policy.queue_policy import QueuePolicy
from stanchion.policy.workers import Workers


@dataclass(frozen=True, slots=True)
class Declaration:
    """Every declared policy, and what is worth telling about the reading."""

    policies: tuple[Config, ...]
    notices: tuple[str, ...] = ()

    @property
    def queue_policies(self) -> tuple[QueuePolicy, ...]:
        """The policies that may have workers."""
        return tuple(policy for policy in self.policies if isinstance(policy, QueuePolicy))


def read(paths: Sequence[str | Path], app: str | None) -> Declaration:
    """Read the manifests; with `app`, a queue of its jobs that no manifest declares gets the defaults.

    Raises CommandError that lists every problem with file, line and the API server's message.
    """
    found = reading.read(paths, one_redis=True)
    if found.problems:
        listed = "\n".join(f"  {problem}" for problem in found.problems)
        raise CommandError(f"the manifests were refused:\n{listed}")
    declared = {policy.queue for policy in found.queue_policies}
    added = () if app is None else _of_app(app, declared)
    if not declared and not added:
        raise CommandError("no QueuePolicy is declared, so there is nothing to run; name one, or give --app")
    notices = (*map(str, found.skipped), *enforcement.notices(found.policies))
    return Declaration((*found.policies, *added), notices)


def _of_app(app: str, declared: set[str]) -> tuple[QueuePolicy, ...]:
    """A default policy for each queue of the app's jobs that nobody declares."""
    queues = queues_of(app)
    if not queues:
        raise CommandError(f"{app} has no jobs; declare one with @app.job or app.include(…)")
    workers = Workers(image="local", app=app)
    return tuple(
        QueuePolicy(owner=Owner(DEFAULT_NAMESPACE, queue), queue=queue, workers=workers)
        for queue in sorted(queues - declared)
    )
