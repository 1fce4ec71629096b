"""The `workers.template` overlay: what of a pod a policy may set, and how it is laid over ours.

A policy must not be a way to get a pod its author could not create. So the fields are an allow list:
a field of a future Kubernetes version is refused until somebody has thought about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stanchion_operator.errors import SpecRefused

Json = Mapping[str, Any]

WORKER = "worker"
POD_FIELDS = frozenset(
    (
        "affinity",
        "containers",
        "imagePullSecrets",
        "initContainers",
        "nodeSelector",
        "preemptionPolicy",
        "priorityClassName",
        "runtimeClassName",
        "schedulerName",
        "securityContext",
        "terminationGracePeriodSeconds",
        "tolerations",
        "topologySpreadConstraints",
        "volumes",
    )
)
POD_SECURITY_FIELDS = frozenset(
    (
        "fsGroup",
        "fsGroupChangePolicy",
        "runAsGroup",
        "runAsUser",
        "supplementalGroups",
    )
)
CONTAINER_FIELDS = frozenset(
    (
        "args",
        "command",
        "env",
        "envFrom",
        "image",
        "imagePullPolicy",
        "lifecycle",
        "livenessProbe",
        "name",
        "ports",
        "readinessProbe",
        "resources",
        "securityContext",
        "startupProbe",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "volumeMounts",
        "workingDir",
    )
)
CONTAINER_SECURITY_FIELDS = frozenset(("readOnlyRootFilesystem", "runAsGroup", "runAsUser"))
PORT_FIELDS = frozenset(("containerPort", "name", "protocol"))
VOLUME_SOURCES = frozenset(("configMap", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim"))
METADATA_FIELDS = frozenset(("annotations", "labels"))
OUR_PREFIX = "stanchion.dev/"

MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "ports": "name",
    "volumeMounts": "mountPath",
    "imagePullSecrets": "name",
}
"""Lists whose items are laid over each other by this key; every other list is replaced."""


def check(template: Json, *, allow_privileged: bool) -> None:
    """Raises SpecRefused, naming the field, where the overlay leaves what a policy may set."""
    for path in _ours(template):
        raise SpecRefused("TemplateRefused", f"{path} belongs to Stanchion and cannot be set")
    if allow_privileged:
        return
    for path in _forbidden(template):
        raise SpecRefused(
            "TemplateRefused",
            f"{path} cannot be set in a template. An administrator can allow it with the operator's flag "
            "--allow-privileged-templates",
        )


def overlay(base: Any, over: Any) -> Any:
    """`over` laid over `base`: objects by field, known lists by key, everything else replaced."""
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return over
    merged = dict(base)
    for field, value in over.items():
        key = MERGE_KEYS.get(field)
        if field not in base:
            merged[field] = value
        elif key and isinstance(value, list):
            merged[field] = _overlay_list(base[field], value, key)
        else:
            merged[field] = overlay(base[field], value)
    return merged


def _overlay_list(base: list[Json], over: list[Json], key: str) -> list[Any]:
    merged = {item[key]: item for item in base}
    for item in over:
        merged[item[key]] = overlay(merged[item[key]], item) if item[key] in merged else item
    return list(merged.values())


def _ours(template: Json) -> Iterator[str]:
    metadata = template.get("metadata") or {}
    for part in METADATA_FIELDS:
        for name in metadata.get(part) or {}:
            if name.startswith(OUR_PREFIX):
                yield f"spec.workers.template.metadata.{part}[{name}]"


def _forbidden(template: Json) -> Iterator[str]:
    """Paths of fields that are not allowed, in the order of the manifest."""
    path = "spec.workers.template"
    yield from _beyond(template, frozenset(("metadata", "spec")), path)
    yield from _beyond(template.get("metadata") or {}, METADATA_FIELDS, f"{path}.metadata")
    spec = template.get("spec") or {}
    path += ".spec"
    yield from _beyond(spec, POD_FIELDS, path)
    yield from _security(spec, POD_SECURITY_FIELDS, path)
    for index, volume in enumerate(spec.get("volumes") or ()):
        yield from _beyond(volume, VOLUME_SOURCES | {"name"}, f"{path}.volumes[{index}]")
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield from _forbidden_in_container(container, f"{path}.{field}[{index}]")


def _forbidden_in_container(container: Json, path: str) -> Iterator[str]:
    if not container.get("name"):
        yield f"{path} without a name"
    yield from _beyond(container, CONTAINER_FIELDS, path)
    yield from _security(container, CONTAINER_SECURITY_FIELDS, path)
    for index, port in enumerate(container.get("ports") or ()):
        yield from _beyond(port, PORT_FIELDS, f"{path}.ports[{index}]")


def _security(owner: Json, allowed: frozenset[str], path: str) -> Iterator[str]:
    context = owner.get("securityContext") or {}
    yield from _beyond(context, allowed, f"{path}.securityContext")
    if context.get("runAsUser") == 0:
        yield f"{path}.securityContext.runAsUser 0"


def _beyond(values: Json, allowed: frozenset[str], path: str) -> Iterator[str]:
    for field in values:
        if field not in allowed:
            yield f"{path}.{field}"
