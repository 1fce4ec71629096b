"""The next step for a policy's Deployment, from what is there: the order survives a crash at any point."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

from stanchion_operator.render.labels import DIGEST_ANNOTATION

Json = Mapping[str, Any]


class Step(Enum):
    """What to do with the Deployment."""

    CREATE = auto()
    """Apply it paused: unpaused it would start one pod before anybody has said how many."""
    RELEASE = auto()
    """It stands there paused: set the number, then apply the whole body, which lifts the pause."""
    APPLY = auto()
    NOTHING = auto()
    REFUSE = auto()
    """It is somebody else's: a forced apply would merge into it without a word."""


def next_step(deployment: Json | None, owner_uid: str, digest: str, applied_generation: int | None) -> Step:
    """The step for a Deployment as it is; `applied_generation` is that of our last apply, if we remember one.

    An equal digest and an unchanged generation mean that nobody has touched it since: no request needed.
    """
    if deployment is None:
        return Step.CREATE
    metadata = deployment["metadata"]
    if not is_ours(deployment, owner_uid):
        return Step.REFUSE
    shown = (metadata.get("annotations") or {}).get(DIGEST_ANNOTATION)
    if shown is None and deployment["spec"].get("paused"):
        return Step.RELEASE
    if shown == digest and metadata.get("generation") == applied_generation:
        return Step.NOTHING
    return Step.APPLY


def is_ours(deployment: Json, owner_uid: str) -> bool:
    """Whether the policy of that uid controls the Deployment."""
    references = deployment["metadata"].get("ownerReferences") or ()
    return any(reference["uid"] == owner_uid and reference.get("controller") for reference in references)


def is_unfinished(deployment: Json) -> bool:
    """Whether it was created and not yet released: nobody may scale it."""
    annotations = deployment["metadata"].get("annotations") or {}
    return bool(deployment["spec"].get("paused")) and DIGEST_ANNOTATION not in annotations
