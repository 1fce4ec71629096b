"""Who runs which queues on this machine: policies become groups of workers, each with its command.

Pure. A group is one policy with workers of its own and the policies that ride on it. What only a cluster
can do (images, Secrets, cron floors) is left out, and a notice says so.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stanchion.dev.fleet import WorkerCommand
from stanchion.errors import CommandError
from stanchion.policy.queue_policy import QueuePolicy
from stanchion.policy.workers import Workers
from stanchion.scaling.autoscaler import ScalingSpec
from stanchion.scaling.behavior import Behavior

TICK_SECONDS = 1.0
LEAD_SECONDS = 5.0
"""A local worker is ready within seconds, not within a cold start of a pod."""


@dataclass(frozen=True, slots=True)
class Group:
    """`policy` owns the workers; `riders` are served by them too. No command: somebody else runs them."""

    policy: QueuePolicy
    riders: tuple[QueuePolicy, ...] = ()
    command: WorkerCommand | None = None
    notices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """`namespace/name` of the owning policy."""
        return self.policy.owner.key

    @property
    def queues(self) -> tuple[str, ...]:
        """The group's queues, the owner's first."""
        return (self.policy.queue, *(rider.queue for rider in self.riders))

    @property
    def scaling(self) -> ScalingSpec:
        """The bounds and the behavior of the number of workers."""
        autoscaling = self.policy.effective_autoscaling
        workers = self.policy.workers or Workers()
        return ScalingSpec(
            target_seconds=self.policy.latency_target_seconds,
            slots_per_replica=workers.slots_per_replica,
            min_replicas=autoscaling.min_replicas,
            max_replicas=autoscaling.max_replicas,
            behavior=Behavior.from_spec(autoscaling.behavior),
            lead_seconds=LEAD_SECONDS,
            tick_seconds=TICK_SECONDS,
        )

    @property
    def fixed_workers(self) -> int | None:
        """The number where no law decides it (Manual, External, or a dry run); else None."""
        autoscaling = self.policy.effective_autoscaling
        if autoscaling.mode == "Latency" and not autoscaling.dry_run:
            return None
        stated = self.policy.workers.replicas if self.policy.workers else None
        return max(1, autoscaling.min_replicas) if stated is None else stated


def groups_of(
    policies: Iterable[QueuePolicy], *, app: str | None, commands: Mapping[str, Sequence[str]], redis_url: str
) -> tuple[Group, ...]:
    """The groups of these policies.

    `app` (MODULE:APP) replaces what the policies name and gives workers to those that have none;
    `commands` maps a queue to the command of somebody else's worker. Raises CommandError for a policyRef
    to a policy that is not here and for a command of a queue that no policy declares.
    """
    policies = tuple(policies)
    by_key = {policy.owner.key: policy for policy in policies}
    riders: dict[str, list[QueuePolicy]] = {key: [] for key in by_key}
    for policy in policies:
        if (owner := _owner_key(policy)) is not None:
            if owner not in by_key:
                raise CommandError(f"{policy.owner.key}: policyRef names {owner}, which is not declared here")
            riders[owner].append(policy)
    strangers = sorted(set(commands) - {policy.queue for policy in policies})
    if strangers:
        raise CommandError(f"--exec names queue {strangers[0]!r}, which no policy declares")
    return tuple(
        _group(policy, tuple(riders[policy.owner.key]), app, commands, redis_url)
        for policy in policies
        if _owner_key(policy) is None
    )


def _owner_key(policy: QueuePolicy) -> str | None:
    if policy.workers is None or policy.workers.policy_ref is None:
        return None
    return f"{policy.owner.namespace}/{policy.workers.policy_ref}"


def _group(
    policy: QueuePolicy,
    riders: tuple[QueuePolicy, ...],
    app: str | None,
    commands: Mapping[str, Sequence[str]],
    redis_url: str,
) -> Group:
    workers = policy.workers or Workers()
    variables, notices = _variables(policy, workers)
    # A line for each job that ended well would bury the table, which counts them.
    variables = {"STANCHION_LOG_JOBS": os.environ.get("STANCHION_LOG_JOBS", "failed"), **variables}
    variables |= {"STANCHION_REDIS_URL": redis_url, "REDIS_URL": redis_url, "PYTHONUNBUFFERED": "1"}
    own_app, is_strangers = app or workers.app, policy.queue in commands
    if is_strangers:
        arguments = tuple(commands[policy.queue])
    elif own_app is not None:
        arguments = _arguments(own_app, workers, (policy, *riders))
    else:
        notices += (f"{policy.owner.key}: no worker runs here; --app or --exec {policy.queue}='…' adds one",)
        return Group(policy, riders, None, notices)
    scaling = policy.effective_autoscaling
    if scaling.schedules or scaling.dependencies or scaling.fallback:
        notices += (f"{policy.owner.key}: schedules, dependencies and fallback do not apply here",)
    command = WorkerCommand(arguments, variables, workers.drain_timeout_seconds, beats=not is_strangers)
    return Group(policy, riders, command, notices)


def _arguments(app: str, workers: Workers, served: Sequence[QueuePolicy]) -> tuple[str, ...]:
    queues = [f"{policy.queue},{policy.workers.weight if policy.workers else 1}" for policy in served]
    return (
        *(sys.executable, "-m", "stanchion", "worker", app),
        *(word for queue in queues for word in ("-q", queue)),
        *("-c", str(workers.concurrency)),
        *("--processes", str(workers.processes)),
        *("--drain-timeout-seconds", str(workers.drain_timeout_seconds)),
        *("--queue-order", workers.queue_order),
    )


def _variables(policy: QueuePolicy, workers: Workers) -> tuple[dict[str, str], tuple[str, ...]]:
    """The literal variables of the policy; a notice for those that only a cluster can fill."""
    literal = {entry["name"]: str(entry["value"]) for entry in workers.env if "value" in entry}
    elsewhere = [str(entry["name"]) for entry in workers.env if "valueFrom" in entry]
    if workers.env_from:
        elsewhere.append("envFrom")
    notices = (f"{policy.owner.key}: {', '.join(elsewhere)} cannot be filled outside a cluster",)
    return literal, notices if elsewhere else ()


def parse_exec(text: str) -> tuple[str, tuple[str, ...]]:
    """`QUEUE=COMMAND` as a queue and the words of the command. Raises CommandError."""
    queue, equals, command = text.partition("=")
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise CommandError(f"--exec {text!r}: the command cannot be read: {error}") from None
    if not (queue and equals and words):
        raise CommandError(
            f"--exec {text!r} must be QUEUE='COMMAND', e.g. mail='bundle exec sidekiq -q mail'"
        )
    if shutil.which(words[0]) is None:
        raise CommandError(f"--exec {text!r}: there is no program {words[0]!r} here, nor on PATH")
    return queue, words
