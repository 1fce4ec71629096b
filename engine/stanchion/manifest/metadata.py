"""The part of an object that Kubernetes itself defines: names, labels, annotations. Pure; for `check`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stanchion.manifest import problem
from stanchion.manifest.document import Json
from stanchion.manifest.problem import Cause

_NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABEL_VALUE = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_MAX_NAME = 253
_MAX_LABEL_VALUE = 63
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
_NAME_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character "
    f"(e.g. 'example.com', regex used for validation is '{_NAME}')"
)
_LABEL_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_LABEL_VALUE}')"
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
    name = metadata.get("name") or ""
    if not name:
        message = "Required value: name or generateName is required"
        yield Cause("metadata.name", problem.REQUIRED, message)
    elif not re.fullmatch(_NAME, name):
        yield problem.invalid("metadata.name", _NAME_RULE, name)
    elif len(name) > _MAX_NAME:
        yield problem.invalid("metadata.name", f"must be no more than {_MAX_NAME} bytes", name)
    for value in (metadata.get("labels") or {}).values():
        if len(value or "") > _MAX_LABEL_VALUE:
            yield problem.invalid("metadata.labels", f"must be no more than {_MAX_LABEL_VALUE} bytes", value)
        if not re.fullmatch(_LABEL_VALUE, value or ""):
            yield problem.invalid("metadata.labels", _LABEL_RULE, value)
