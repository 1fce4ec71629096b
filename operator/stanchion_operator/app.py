"""The operator as a whole: builds the parts, starts them in order, stops them in reverse.

Order matters: nothing is watched before the CRDs are there, nothing is written before the Lease is ours,
nothing is swept before everything was listed. Standing by, the caches are kept warm.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any

from stanchion.policy.queue_policy import QueuePolicy
from stanchion_operator import metrics
from stanchion_operator.autoscale.loop import Autoscaler
from stanchion_operator.errors import ApiError, Unreachable
from stanchion_operator.health import Health, Probes
from stanchion_operator.kube import install, objects
from stanchion_operator.kube.cache import Cache
from stanchion_operator.kube.client import Api
from stanchion_operator.kube.events import Events
from stanchion_operator.kube.lease import Lease
from stanchion_operator.kube.paths import (
    DEPLOYMENT,
    LOCK_POLICY,
    POLICIES,
    QUEUE_POLICY,
    SECRET,
    TENANT_BUDGET,
    Key,
)
from stanchion_operator.reconcile import dependents
from stanchion_operator.reconcile.base import Kind, Reconciler
from stanchion_operator.reconcile.cleanup import Cleanup
from stanchion_operator.reconcile.config_writer import ConfigWriter
from stanchion_operator.reconcile.declared import Declared
from stanchion_operator.reconcile.placement import Placements
from stanchion_operator.reconcile.queue_policy import QueuePolicies
from stanchion_operator.reconcile.rules import Rules
from stanchion_operator.reconcile.workers import WorkerSets
from stanchion_operator.redis_config.server import Server
from stanchion_operator.redis_config.servers import Servers
from stanchion_operator.settings import OperatorSettings
from stanchion_operator.watch import informer
from stanchion_operator.watch.workqueue import WorkQueue

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]

DEPLOYMENT_SETTLES_SECONDS = 1.0
"""A rollout changes a Deployment's status many times: once a second is enough to follow it."""
STOP_TIMEOUT_SECONDS = 10.0


async def run(settings: OperatorSettings) -> None:
    """Run until SIGTERM or SIGINT. Raises what ended it otherwise: StartupFailed, NotLeading."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    api = await Api.connect()
    probes = Probes(health := Health(settings.resync_seconds), *settings.health_address)
    try:
        logger.info("probes and metrics on port %d", await probes.start())
        await install.wait_for_crds(api)
        managed_by = await install.install_id(api, settings.own_namespace, settings.release_name)
        await Operator(settings, api, health, managed_by).run(stop)
    finally:
        await probes.stop()
        await api.close()


class Operator:
    """One operator, leading or standing by."""

    def __init__(self, settings: OperatorSettings, api: Api, health: Health, managed_by: str) -> None:
        self._settings, self._api, self._health = settings, api, health
        self._cache, self._declared, self._queue = Cache(), Declared(), WorkQueue[Key]()
        self._placements: Placements = {}
        self._lease = Lease(api, settings.own_namespace, settings.lease_name, settings.identity)
        api.guard = self._lease.check
        self._servers = Servers(self._read_secret, settings.redis_secret_name, settings.secret_names)
        self._writer = ConfigWriter(managed_by, lambda: self._lease.transitions, self._lease.check)
        self._reconciler = self._build(Events(api, settings.identity))
        self._autoscaler = Autoscaler(api, self._cache, self._placements, settings.tick_seconds)

    async def run(self, stop: asyncio.Event) -> None:
        """Stand by, lead, and give the Lease up when told to stop or when a part fails."""
        await self._list()
        try:
            watching = informer.run(self._settings, self._cache, self._changed, stop)
            await _until(stop, watching, self._lead())
        finally:
            self._queue.close()
            await self._lease.release()
            await self._servers.close()

    async def _lead(self) -> None:
        """Wait for the Lease, then do everything that only one may do. Ends only with an error."""
        await self._lease.acquire()
        for key in self._declared.all_keys():
            self._queue.add(key)
        loops = [self._lease.hold(), self._resync(), self._watch_redis(), self._autoscaler.run()]
        workers = [self._queue.work(self._reconciler) for _ in range(self._settings.concurrency)]
        async with asyncio.TaskGroup() as tasks:
            for work in (*loops, *workers):
                tasks.create_task(work)

    def _build(self, events: Events) -> Reconciler:
        settings, api = self._settings, self._api
        workers = WorkerSets(api, self._cache, allow_privileged=settings.allow_privileged_templates)
        cleanup = Cleanup(api, events, self._servers, self._writer, cluster_wide=settings.cluster_wide)
        rules = Rules(self._declared, self._servers, self._writer, enforced=False)
        queue_policies = QueuePolicies(
            self._declared, self._servers, self._writer, workers, cleanup, self._placements
        )
        kinds: dict[str, Kind] = {QUEUE_POLICY: queue_policies, LOCK_POLICY: rules, TENANT_BUDGET: rules}
        return Reconciler(api, self._cache, events, kinds, settings.resync_seconds)

    def _changed(self, key: Key, before: Json | None, after: Json | None) -> None:
        """An event: the key it concerns, and whoever depends on it, must be looked at."""
        if key.kind == DEPLOYMENT:
            for owner in dependents.of_deployment(key, after or before):
                self._queue.add_after(owner, DEPLOYMENT_SETTLES_SECONDS)
        elif key.kind == SECRET:
            for user in dependents.of_secret(key, self._declared):
                self._queue.add(user)
        else:
            self._policy_changed(key, before, after)

    def _policy_changed(self, key: Key, before: Json | None, after: Json | None) -> None:
        known = self._declared.reading(key)
        self._declared.update(key, after)
        self._queue.add(key)
        if key.kind != QUEUE_POLICY or not dependents.spec_changed(before, after):
            return
        for reading in (known, self._declared.reading(key)):
            if reading is not None and isinstance(reading.policy, QueuePolicy):
                for other in dependents.of_queue_policy(reading.policy, self._declared):
                    self._queue.add(other)

    async def _list(self) -> None:
        """Read every policy anew: a watch can be silent or miss what happened while we were away."""
        for kind in POLICIES:
            for namespace in self._settings.namespaces or (None,):
                known = dict(self._cache.of_kind(kind, namespace))
                listed = await objects.list_all(self._api, kind, namespace)
                self._cache.replace(kind, namespace, listed)
                for key in known.keys() | {Key.of(manifest, kind) for manifest in listed}:
                    before, after = known.get(key), self._cache.get(key)
                    if before is not after and before != after:
                        self._changed(key, before, after)
        self._health.listed()

    async def _resync(self) -> None:
        """List, then take back what nobody declares any more."""
        while True:
            await asyncio.sleep(self._settings.resync_seconds)
            metrics.WAITING_KEYS.set(len(self._queue))
            try:
                await self._list()
            except ApiError as error:
                logger.warning("resync: %s", error)
                continue
            await self._servers.keep_only(self._writer.used())
            for server in self._servers.all():
                await self._sweep(server)

    async def _sweep(self, server: Server) -> None:
        entries = self._declared.entries()
        with suppress(Unreachable):
            removed = set(await self._writer.sweep(server, set(entries.values())))
            for entry in removed:
                logger.info("removed config %s from %s: nobody declares it", entry, server.address)
            for key, entry in self._declared.entries().items():
                if entry in removed:  # declared while we swept
                    self._queue.add(key)

    async def _watch_redis(self) -> None:
        """See at every tick whether a Redis came back or lost its memory, and restore its config at once."""
        away: set[Server] = set()
        while True:
            metrics.LEADING.set(self._lease.leading)
            servers = self._servers.all()
            for server, seen in zip(servers, await asyncio.gather(*map(_look, servers)), strict=True):
                metrics.REDIS_UP.labels(server.address).set(seen is not None)
                if seen is None:
                    away.add(server)
                elif seen or server in away:
                    logger.warning("Redis at %s came back or lost its config", server.label)
                    away.discard(server)
                    for key in self._writer.keys_on(server):
                        self._queue.add(key)
            await asyncio.sleep(self._settings.tick_seconds)

    async def _read_secret(self, namespace: str, name: str) -> Json | None:
        """The watched Secret from the cache; others, and one not yet seen, from the API server."""
        key = Key(SECRET, namespace, name)
        if name == self._settings.redis_secret_name and (known := self._cache.get(key)) is not None:
            return known
        return await objects.get(self._api, key)


async def _look(server: Server) -> bool | None:
    """Whether a server has forgotten something; None while it does not answer."""
    try:
        return await server.look()
    except Unreachable:
        return None


async def _until(stop: asyncio.Event, *work: Coroutine[Any, Any, None]) -> None:
    """Run until told to stop or until any part ends; the others are cancelled, its error is raised."""
    tasks = [asyncio.create_task(each) for each in (stop.wait(), *work)]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            _raise_first(task.exception())
    finally:
        stop.set()
        for task in tasks[2:]:
            task.cancel()
        await asyncio.wait(tasks, timeout=STOP_TIMEOUT_SECONDS)


def _raise_first(error: BaseException | None) -> None:
    """Raise the error itself, not the group a TaskGroup wraps it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if error is not None:
        raise error
