"""The part of an object that Kubernetes itself defines: names, labels, annotations. Pure; for `check`."""

from __future__ import annotations

from collections.abc import Iterator

from stanchion.manifest import names, problem
from stanchion.manifest.document import Json
from stanchion.manifest.problem import Cause

_MAX_ANNOTATION_BYTES = 256 * 1024
_FIELDS = frozenset(
    {
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)


def unknown_fields(metadata: Json) -> Iterator[str]:
    """Fields that no Kubernetes object has in its metadata."""
    yield from (f"metadata.{key}" for key in metadata if key not in _FIELDS)


def malformed(metadata: Json) -> Iterator[Cause]:
    """What the API server cannot even decode, such as a number for a label. The words are ours: its own
    name Go types."""
    if not isinstance(metadata, dict):
        yield problem.invalid("metadata", "must be an object", metadata)
        return
    for key in ("name", "namespace"):
        if not isinstance(metadata.get(key) or "", str):
            yield problem.invalid(f"metadata.{key}", "must be a string; quote it", metadata[key])
    for key in ("labels", "annotations"):
        values = metadata.get(key) or {}
        if not isinstance(values, dict):
            yield problem.invalid(f"metadata.{key}", "must be an object of strings", values)
            continue
        for name, value in values.items():
            if value is not None and not isinstance(value, str):
                yield problem.invalid(f"metadata.{key}.{name}", "must be a string; quote it", value)


def causes(metadata: Json) -> Iterator[Cause]:
    """What the API server has against decoded metadata."""
    name, labels, annotations = (metadata.get(key) for key in ("name", "labels", "annotations"))
    if not name:
        message = "Required value: name or generateName is required"
        yield Cause("metadata.name", problem.REQUIRED, message)
    else:
        yield from _invalid("metadata.name", name, names.object_faults(name))
    namespace = metadata["namespace"]
    yield from _invalid("metadata.namespace", namespace, names.namespace_faults(namespace))
    for key, value in (labels or {}).items():
        yield from _invalid("metadata.labels", key, names.key_faults(key))
        yield from _invalid("metadata.labels", value or "", names.label_value_faults(value or ""))
    for key in annotations or {}:
        yield from _invalid("metadata.annotations", key, names.key_faults(key.lower()))
    if (
        sum(len(f"{key}{value or ''}".encode()) for key, value in (annotations or {}).items())
        > _MAX_ANNOTATION_BYTES
    ):
        yield problem.too_long("metadata.annotations", _MAX_ANNOTATION_BYTES)


def _invalid(field: str, value: str, faults: Iterator[str]) -> Iterator[Cause]:
    yield from (problem.invalid(field, fault, value) for fault in faults)
