"""Would the API server take this manifest? The same defaults, the same causes, without a server.

`validate` judges one object; `check_set` (from `conflicts`) what only a set can show. Called by `stanchion
check`, `apply` and `dev`. What the operator's flags or the rights in a cluster would say is not judged here.
Pure.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterator, Mapping

from stanchion.manifest import lists, metadata, prune, rules, scale, schema
from stanchion.manifest.conflicts import check_set
from stanchion.manifest.crds import CustomResource, custom_resources
from stanchion.manifest.document import Json, Manifest
from stanchion.manifest.problem import (
    NOWHERE,
    RULES_NOT_CHECKED,
    TYPE_INVALID,
    Cause,
    Problem,
    duplicate_field,
    unknown_field,
)

__all__ = ["check_set", "validate"]


def validate(
    manifest: Manifest, old: Mapping[str, Json] | None = None
) -> tuple[Mapping[str, Json] | None, tuple[Problem, ...]]:
    """The object as the API server would store it, or None and the causes it would answer with instead.

    `old` is the stored object that this one would replace (as returned here before); with it, immutable
    fields are held. An API server forgives an old fault in a field that stays as it is; this does not.
    Raises CommandError if the CEL library is not installed.
    """
    resource, misnamed = _resource(manifest)
    if resource is None:
        return None, misnamed
    problems = tuple(_undecodable(manifest, resource))
    if problems:
        return None, problems
    stored = _stored(manifest, resource)
    problems = tuple(_placed(manifest, cause) for cause in _causes(stored, resource, old))
    return (None, problems) if problems else (stored, ())


def _resource(manifest: Manifest) -> tuple[CustomResource | None, tuple[Problem, ...]]:
    known = custom_resources()
    resource = known.get(manifest.kind)
    if resource is None:
        message = f'there is no kind "{manifest.kind}" in this group; there are {", ".join(known)}'
        return None, (_placed(manifest, Cause("kind", "UnknownKind", message)),)
    if resource.api_version != manifest.api_version:
        message = f'"{manifest.api_version}" is not served; {manifest.kind} is {resource.api_version}'
        return None, (_placed(manifest, Cause("apiVersion", "UnknownKind", message)),)
    return resource, ()


def _undecodable(manifest: Manifest, resource: CustomResource) -> Iterator[Problem]:
    """What strict decoding refuses before anything is validated."""
    meta = manifest.body.get("metadata", {})
    malformed = list(metadata.malformed(meta))
    yield from (_placed(manifest, cause) for cause in malformed)
    if malformed:
        return
    for path, line in manifest.duplicates.items():
        yield _placed(manifest, duplicate_field(path), f"first at line {line}")
    yield from (_placed(manifest, unknown_field(path)) for path in metadata.unknown_fields(meta))
    for path, siblings in prune.unknown_fields(manifest.body, resource.schema):
        close = difflib.get_close_matches(path.rpartition(".")[2], siblings, 1)
        yield _placed(manifest, unknown_field(path), f"did you mean {close[0]}?" if close else "")


def _stored(manifest: Manifest, resource: CustomResource) -> dict[str, Json]:
    body = copy.deepcopy({key: value for key, value in manifest.body.items() if key != "status"})
    body["metadata"] = {**(body.get("metadata") or {}), "namespace": manifest.namespace}
    prune.drop_nulls(body, resource.schema)
    prune.fill_defaults(body, resource.schema)
    return body


def _causes(
    stored: dict[str, Json], resource: CustomResource, old: Mapping[str, Json] | None
) -> Iterator[Cause]:
    found = [
        *metadata.causes(stored["metadata"]),
        *schema.causes(stored, resource.schema),
        *scale.causes(stored, resource.replicas_path),
        *lists.causes(stored, resource.schema),
    ]
    yield from found
    if any(cause.blocks_rules for cause in found):
        yield RULES_NOT_CHECKED
    else:
        yield from rules.causes(stored, resource.schema, old)


def _placed(manifest: Manifest, cause: Cause, hint: str = "") -> Problem:
    path = cause.about if cause.field == NOWHERE else cause.field.removeprefix(".")
    if cause.reason == TYPE_INVALID and "must be of type string" in cause.message and path in manifest.bare:
        hint = f"bare {manifest.bare[path]} is no string in YAML: quote it"
    return Problem(manifest.file, manifest.line_of(path), cause.field, cause.reason, cause.message, hint)
