from __future__ import annotations

from typing import Any

import pytest

from stanchion_operator.decide.children import Step, is_unfinished, next_step

OURS = {"uid": "u1", "controller": True}


def deployment(
    *, owner: Any = OURS, digest: str | None = "d1", paused: bool = False, generation: int = 4
) -> Any:
    annotations = {} if digest is None else {"stanchion.dev/digest": digest}
    metadata = {"ownerReferences": [owner], "annotations": annotations, "generation": generation}
    return {"metadata": metadata, "spec": {"paused": paused}}


@pytest.mark.parametrize(
    ("found", "step"),
    [
        (None, Step.CREATE),
        (deployment(), Step.NOTHING),
        (deployment(digest="d0"), Step.APPLY),
        (deployment(generation=5), Step.APPLY),  # somebody has touched it
        (deployment(digest=None), Step.APPLY),
        (deployment(digest=None, paused=True), Step.RELEASE),
        (deployment(paused=True), Step.NOTHING),  # `kubectl rollout pause` is the user's business
        (deployment(owner={"uid": "u2", "controller": True}), Step.REFUSE),
        (deployment(owner={"uid": "u1"}), Step.REFUSE),
        (deployment(owner={"uid": "u2", "controller": True}, digest=None, paused=True), Step.REFUSE),
    ],
)
def test_the_next_step_follows_from_what_is_there(found: Any, step: Step) -> None:
    assert next_step(found, "u1", "d1", 4) is step


def test_after_a_restart_it_is_applied_once_for_nobody_knows_who_touched_it() -> None:
    assert next_step(deployment(), "u1", "d1", None) is Step.APPLY


@pytest.mark.parametrize(
    ("digest", "paused", "unfinished"), [(None, True, True), ("d1", True, False), (None, False, False)]
)
def test_nobody_scales_an_unfinished_deployment(digest: str | None, paused: bool, unfinished: bool) -> None:
    assert is_unfinished(deployment(digest=digest, paused=paused)) is unfinished
