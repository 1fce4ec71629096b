"""The only kopf file: what the API server tells us goes into the cache, and the key goes to a callback.

Only `on.event` is used: kopf's own handlers, timers and patches would write annotations and finalizers
on every object, and a timer that fails once is silently dead. Its event handlers swallow exceptions, so
they do nothing that can fail.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import kopf

from stanchion_operator.kube.cache import Cache
from stanchion_operator.kube.paths import DEPLOYMENT, GROUP, POLICIES, PREFIXES, SECRET, VERSION, Key
from stanchion_operator.render.labels import POLICY_LABEL
from stanchion_operator.settings import OperatorSettings

Changed = Callable[[Key, Mapping[str, Any] | None, Mapping[str, Any] | None], None]
"""Called with a key and its forms before and after; None where there is none."""

SERVER_TIMEOUT_SECONDS = 300
EXIT_TIMEOUT_SECONDS = 10.0


async def run(settings: OperatorSettings, cache: Cache, changed: Changed, stop: asyncio.Event) -> None:
    """Watch until `stop` is set. Ends with an error if the API server refuses the watch for good."""
    await kopf.operator(
        registry=_registry(cache, changed),
        settings=_kopf_settings(settings),
        # Stated, because kopf's own guess asks for a user name, and an image's user is a bare number.
        identity=settings.identity,  # type: ignore[arg-type]
        standalone=True,
        clusterwide=settings.cluster_wide,
        namespaces=settings.namespaces,
        stop_flag=stop,
    )


def _registry(cache: Cache, changed: Changed) -> kopf.OperatorRegistry:
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry, id="login")(kopf.login_via_client)

    def watch(kind: str, group: str, version: str) -> None:
        async def seen(event: kopf.RawEvent, **_: Any) -> None:
            manifest: Mapping[str, Any] = event["object"]
            key = Key.of(manifest, kind)
            before = cache.get(key)
            if event["type"] == "DELETED":
                cache.drop(key)
            else:
                cache.put(key, manifest)
            changed(key, before, cache.get(key))

        kopf.on.event(group, version, PREFIXES[kind][1], registry=registry, id=kind)(seen)

    for policy in POLICIES:
        watch(policy, GROUP, VERSION)
    watch(DEPLOYMENT, "apps", "v1")
    watch(SECRET, "", "v1")
    return registry


def _kopf_settings(settings: OperatorSettings) -> kopf.OperatorSettings:
    """Nothing posted, nothing scanned; only our own Deployments, and Secrets of one name."""
    quiet = kopf.OperatorSettings()
    quiet.posting.enabled = False
    quiet.scanning.disabled = True
    quiet.watching.server_timeout = SERVER_TIMEOUT_SECONDS
    quiet.watching.connect_timeout = 10.0
    quiet.networking.request_timeout = 30.0
    quiet.process.ultimate_exiting_timeout = EXIT_TIMEOUT_SECONDS
    quiet.watching.label_selectors["apps", "v1", "deployments"] = POLICY_LABEL
    quiet.watching.field_selectors["", "v1", "secrets"] = f"metadata.name={settings.redis_secret_name}"
    return quiet
