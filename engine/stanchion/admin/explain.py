"""The effective settings of one job and where each comes from. Called by `stanchion explain`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from stanchion.admin.known_job import known_job
from stanchion.app import App
from stanchion.call import check_name, check_queue
from stanchion.definition import JobDefinition
from stanchion.gate.config import ConfigView
from stanchion.gate.push import BUILT_IN_RETRIES
from stanchion.job import DEFAULT_QUEUE
from stanchion.policy import lock_policy
from stanchion.policy.contract import Config
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.match import resolve
from stanchion.policy.precedence import BUILT_IN, Effective, effective
from stanchion.policy.queue_policy import QueueConfig
from stanchion.policy.scope import in_scope
from stanchion.policy.spec import spec_of
from stanchion.policy.tenant_budget import TenantBudget

RUN_TIME = "stanchion queue pause"


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the explanation. A value of None means "none"."""

    name: str
    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A job's settings in the order a reader asks for them; `shadowed` are policies that match and lose."""

    job: str
    settings: tuple[Setting, ...]
    shadowed: tuple[str, ...]


def explain(
    job: str,
    view: ConfigView,
    *,
    app: App | None = None,
    queue: str | None = None,
    paused_queues: Set[str] = frozenset(),
) -> Explanation:
    """The settings of `job` under `view`. `queue` is the call's; `paused_queues` those paused at run time.

    Raises UnknownJob if the App has no job of that name, InvalidArguments for a name that
    no job or queue can have.
    """
    check_name(job)
    if queue is not None:
        check_queue(queue)
    definition = known_job(app, job) if app is not None else None
    code_queue = None if definition is None or definition.queue == DEFAULT_QUEUE else definition.queue
    where = effective(call=queue, code=code_queue, built_in=DEFAULT_QUEUE)
    policy = view.queue(where.value)
    locks = in_scope(view.locks, policy.owner.namespace) if policy else ()
    budgets = in_scope(view.budgets, policy.owner.namespace) if policy else ()
    lock, budget = resolve(locks, where.value, job), resolve(budgets, where.value)
    settings = [
        _setting("queue", where),
        *_of_queue(policy, definition, where.value in paused_queues),
        *_of_dead_set(view),
        *_of_lock(lock.winner),
        *_of_budget(budget.winner),
    ]
    shadowed = (*map(_title, lock.shadowed), *map(_title, budget.shadowed))
    return Explanation(job, tuple(settings), shadowed)


def _of_queue(
    policy: QueueConfig | None, definition: JobDefinition[Any, Any] | None, paused: bool
) -> Iterator[Setting]:
    source = _title(policy) if policy else BUILT_IN
    retries = effective(
        policy=policy.max_retries if policy else None,
        policy_source=source,
        code=definition.retries if definition else None,
        built_in=BUILT_IN_RETRIES,
    )
    yield _setting("retries", retries)
    yield Setting("paused", paused or (policy is not None and policy.paused), RUN_TIME if paused else source)
    if policy is not None:
        yield Setting("latencyTargetSeconds", policy.latency_target_seconds, source)
        yield Setting("fairness", policy.fairness, source)
        sources = [each.path for each in policy.tenant_from] or None
        yield _setting("tenantFrom", effective(policy=sources, policy_source=source, built_in=None))


def _of_dead_set(view: ConfigView) -> Iterator[Setting]:
    """One dead set a Redis: the largest limit of all queues binds, so it may be another queue's."""
    limits = view.dead_limits()
    for name, field in (("dead.maxJobs", "max_jobs"), ("dead.retentionSeconds", "retention_seconds")):
        value = getattr(limits, field)
        owners = (q for q in view.queues.values() if q.dead is not None and getattr(q.dead, field) == value)
        owner = next(owners, None)
        yield Setting(name, value, _title(owner) if owner else BUILT_IN)


def _of_lock(lock: LockPolicy | None) -> Iterator[Setting]:
    if lock is None:
        yield Setting("lock", None, BUILT_IN)
        return
    source, spec = _title(lock), spec_of(lock)
    yield Setting("lock", lock.lock, source)
    for name in ("limit", "ttl"):
        value = effective(policy=spec[name], policy_source=source, built_in=lock_policy.BUILT_IN[name])
        yield _setting(f"lock.{name}", value)
    for group in ("key", "onConflict"):
        for name, built_in in lock_policy.BUILT_IN[group].items():
            value = effective(policy=spec[group][name], policy_source=source, built_in=built_in)
            yield _setting(f"lock.{group}.{name}", value)
    yield Setting("lock.digest", lock.digest, source)
    yield Setting("lock.dryRun", lock.dry_run, source)


def _of_budget(budget: TenantBudget | None) -> Iterator[Setting]:
    if budget is None:
        yield Setting("budget", None, BUILT_IN)
        return
    source = _title(budget)
    for name, value in spec_of(budget).items():
        if name != "match":
            yield Setting(f"budget.{name}", value, source)


def _setting(name: str, found: Effective) -> Setting:
    return Setting(name, found.value, found.source)


def _title(policy: Config) -> str:
    return f"{type(policy).__name__.replace('Config', 'Policy')} {policy.owner.key}"
