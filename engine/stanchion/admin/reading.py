"""Manifest files as policies, with every problem in its file and line. Called by check, apply,
explain and dev."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stanchion.errors import InvalidPolicy
from stanchion.manifest.check import check_set, validate
from stanchion.manifest.document import Manifest
from stanchion.manifest.load import Skipped, load_paths
from stanchion.manifest.problem import INVALID, Problem
from stanchion.policy.contract import Config
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.queue_policy import QueuePolicy
from stanchion.policy.tenant_budget import TenantBudget

READERS: Mapping[str, Callable[[Mapping[str, Any]], Config]] = {
    "QueuePolicy": QueuePolicy.from_manifest,
    "LockPolicy": LockPolicy.from_manifest,
    "TenantBudget": TenantBudget.from_manifest,
}
NO_MANIFEST = ("Unreadable", "NothingToDo")
"""Reasons of problems that the command line is to blame for: the path holds nothing of ours."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One policy and the manifest it was read from."""

    manifest: Manifest
    policy: Config


@dataclass(frozen=True, slots=True)
class Reading:
    """What the paths declare. With problems, `declared` holds only what was fine by itself."""

    declared: tuple[Declared, ...]
    problems: tuple[Problem, ...]
    skipped: tuple[Skipped, ...]

    @property
    def policies(self) -> tuple[Config, ...]:
        return tuple(each.policy for each in self.declared)

    @property
    def queue_policies(self) -> tuple[QueuePolicy, ...]:
        return tuple(policy for policy in self.policies if isinstance(policy, QueuePolicy))

    @property
    def paths_are_wrong(self) -> bool:
        """A path could not be read or holds nothing of ours: the command was wrong, not a manifest."""
        return any(problem.reason in NO_MANIFEST for problem in self.problems)


def read(paths: Iterable[str | Path], *, one_redis: bool = False) -> Reading:
    """Load, default and validate as the API server would, then judge the set as a whole.

    `one_redis`: all queues are on one server whatever Secrets they name, as for apply and explain.
    """
    loaded = load_paths(paths)
    problems = list(loaded.problems)
    declared = []
    for manifest in loaded.manifests:
        stored, causes = validate(manifest)
        problems += (cause for cause in causes if not cause.is_remark)
        if stored is None:
            continue
        try:
            declared.append(Declared(manifest, READERS[manifest.kind](stored)))
        except InvalidPolicy as error:
            problems.append(place(manifest, error))
    problems += check_set([each.manifest for each in declared], one_redis=one_redis)
    return Reading(tuple(declared), tuple(problems), loaded.skipped)


def place(manifest: Manifest, error: InvalidPolicy) -> Problem:
    """An error of a policy as a problem of its manifest."""
    message = str(error).removeprefix(f"{error.field}: ")
    return Problem(manifest.file, manifest.line_of(error.field), error.field, INVALID, message)
