"""What the watches have shown: the last seen form of each object, without what we never read.

Written by `watch` and by the answers to our own writes, read by everyone. An absent object may merely
not have been listed yet, so nothing is deleted or created on the cache's word alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stanchion_operator.kube.paths import DEPLOYMENT, Key

Json = Mapping[str, Any]


class Cache:
    """Objects by key. Not thread-safe: everything runs in one event loop."""

    def __init__(self) -> None:
        self._objects: dict[Key, Json] = {}

    def get(self, key: Key) -> Json | None:
        """The last seen form, or None."""
        return self._objects.get(key)

    def of_kind(self, kind: str, namespace: str | None = None) -> Iterator[tuple[Key, Json]]:
        """All objects of a kind, in one namespace or in all."""
        for key, manifest in list(self._objects.items()):
            if key.kind == kind and namespace in (None, key.namespace):
                yield key, manifest

    def put(self, key: Key, manifest: Json) -> None:
        """Keep the newer of two forms: a watch may lag behind the answer to our own write."""
        known = self._objects.get(key)
        if known is None or _is_newer(manifest, known):
            self._objects[key] = project(key.kind, manifest)

    def drop(self, key: Key) -> None:
        """Forget a deleted object."""
        self._objects.pop(key, None)

    def replace(self, kind: str, namespace: str | None, objects: Iterable[Json]) -> set[Key]:
        """Take a full list as the truth: what it lacks is gone. Returns the keys it has."""
        listed = {Key.of(manifest, kind): manifest for manifest in objects}
        for key, _ in self.of_kind(kind, namespace):
            if key not in listed:
                self.drop(key)
        for key, manifest in listed.items():
            self.put(key, manifest)
        return set(listed)


def project(kind: str, manifest: Json) -> Json:
    """Drop what is large and unread: managedFields, and of a Deployment the pod template."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "managedFields"}
    projected = {key: value for key, value in manifest.items() if key != "metadata"} | {"metadata": metadata}
    if kind == DEPLOYMENT:
        spec = manifest.get("spec") or {}
        projected["spec"] = {key: spec[key] for key in ("replicas", "paused", "selector") if key in spec}
    return projected


def _is_newer(one: Json, other: Json) -> bool:
    """Compare resourceVersions as numbers, which the API promises to be ordered; another uid always wins."""
    ours, theirs = one["metadata"], other["metadata"]
    if ours.get("uid") != theirs.get("uid"):
        return True
    return int(ours.get("resourceVersion", 0)) >= int(theirs.get("resourceVersion", 0))
