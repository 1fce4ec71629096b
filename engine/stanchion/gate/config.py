"""The config as one process knows it: the last good copy, swapped whole when Redis has a newer one.

Clients and workers pass `view.epoch` to every gated script; when a script answers RECONFIG they call
`refresh` and ask again. A Redis that is away, empty or damaged never takes a limit away: what was read
well last stays in force, and `problems` says what is wrong.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import redis
import redis.asyncio

from stanchion.policy.contract import Config, decode, stamp
from stanchion.policy.lock_policy import LockPolicy
from stanchion.policy.match import resolve
from stanchion.policy.queue_policy import DeadLimits, QueueConfig
from stanchion.policy.scope import in_scope
from stanchion.policy.tenant_budget import TenantBudget
from stanchion.store import config_reader
from stanchion.store.config_reader import Snapshot

log = logging.getLogger("stanchion.config")

REBUILD_SECONDS = 60.0
"""Within it an emptied Redis has all its config again: two resyncs of its writers."""


@dataclass(frozen=True, slots=True)
class ConfigView:
    """One consistent config. `epoch` is "" before any was read: gated scripts then answer RECONFIG."""

    epoch: str = ""
    queues: Mapping[str, QueueConfig] = field(default_factory=dict)
    locks: tuple[LockPolicy, ...] = ()
    budgets: tuple[TenantBudget, ...] = ()

    def queue(self, name: str) -> QueueConfig | None:
        """The declared queue of that name, if any."""
        return self.queues.get(name)

    def dead_limits(self) -> DeadLimits:
        """Bounds of the dead set: Redis has one, so the largest of all stated limits binds."""
        stated = [queue.dead for queue in self.queues.values() if queue.dead is not None]
        return DeadLimits(
            max_jobs=max((dead.max_jobs for dead in stated), default=DeadLimits().max_jobs),
            retention_seconds=max(
                (dead.retention_seconds for dead in stated), default=DeadLimits().retention_seconds
            ),
        )

    def lock(self, queue: str, job: str) -> LockPolicy | None:
        """The LockPolicy that governs `job` on `queue`; only the namespace of the queue's owner counts."""
        declared = self.queues.get(queue)
        return (
            resolve(in_scope(self.locks, declared.owner.namespace), queue, job).winner if declared else None
        )

    def budget(self, queue: str) -> TenantBudget | None:
        """The TenantBudget that governs `queue`."""
        declared = self.queues.get(queue)
        return resolve(in_scope(self.budgets, declared.owner.namespace), queue).winner if declared else None


class ConfigCache:
    """Holds the view. Safe to share between threads: readers see the old or the new view, never a mix."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.view = ConfigView()
        self.problems: tuple[str, ...] = ()
        self._clock = clock
        self._awaited: frozenset[str] = frozenset()
        self._rebuilt_by = 0.0
        self._good: dict[str, tuple[str, Config]] = {}
        self._lock = threading.Lock()

    def refresh(self, client: redis.Redis) -> ConfigView:
        """Read what changed and return the view. Never raises for a bad Redis or a bad hash."""
        return self._take(config_reader.read(client, self._known()))

    async def arefresh(self, client: redis.asyncio.Redis) -> ConfigView:
        """As `refresh`, on an asyncio client."""
        return self._take(await config_reader.aread(client, self._known()))

    def _known(self) -> dict[str, str]:
        return {entry: known for entry, (known, _) in self._good.items()}

    def _take(self, snapshot: Snapshot) -> ConfigView:
        with self._lock:
            if snapshot.failure:
                self._report((f"Redis did not answer, the last config stays: {snapshot.failure}",))
            elif not snapshot.epoch:
                # A flushed Redis has no epoch. The operator writes all of it again within a resync;
                # until then the last good copy binds.
                self._report(("Redis holds no config, the last one stays",) if self._good else ())
            else:
                self._merge(snapshot)
            return self.view

    def _merge(self, snapshot: Snapshot) -> None:
        problems = list(snapshot.problems)
        good = {entry: known for entry, known in self._good.items() if entry in snapshot.index}
        if missing := self._not_yet_back(snapshot):
            good |= {entry: self._good[entry] for entry in missing}
            problems.append(
                f"Redis was emptied; until written again the last config stays: {', '.join(missing)}"
            )
        for entry, fields in snapshot.hashes.items():
            kind, _, name = entry.partition("/")
            decoded = decode(kind, name, fields)
            problems += decoded.problems
            if decoded.config is not None:
                good[entry] = (stamp(fields), decoded.config)
        self._good = good
        self.view = view_of((config for _, config in good.values()), snapshot.epoch)
        self._report(tuple(problems))

    def _not_yet_back(self, snapshot: Snapshot) -> list[str]:
        """Entries that an emptied Redis has not got back: its writers restore them one by one, and every one
        makes a new epoch over an index that is still partial.

        Whatever emptied it also began the count of the epoch anew. An entry that nobody writes again in time
        goes with the first change of config after that.
        """
        known = self.view.epoch
        if known not in ("", snapshot.epoch) and _count(snapshot.epoch) <= _count(known):
            self._awaited = frozenset(self._good)
            self._rebuilt_by = self._clock() + REBUILD_SECONDS
        if self._clock() >= self._rebuilt_by:
            self._awaited = frozenset()
        self._awaited -= snapshot.index.keys()  # from now on its absence means that it was deleted
        return sorted(self._awaited)

    def _report(self, problems: tuple[str, ...]) -> None:
        for problem in problems:
            if problem not in self.problems:
                log.warning("%s", problem)
        self.problems = problems


def _count(epoch: str) -> int:
    """The counter of an epoch `counter-nonce`; it grows by one with every change."""
    count = epoch.partition("-")[0]
    return int(count) if count.isascii() and count.isdigit() else 0


def view_of(configs: Iterable[Config], epoch: str = "") -> ConfigView:
    """The view of configs in hand: read from Redis, or from manifests that no Redis has seen."""
    configs = tuple(configs)
    return ConfigView(
        epoch=epoch,
        queues={config.queue: config for config in configs if isinstance(config, QueueConfig)},
        locks=tuple(config for config in configs if isinstance(config, LockPolicy)),
        budgets=tuple(config for config in configs if isinstance(config, TenantBudget)),
    )
