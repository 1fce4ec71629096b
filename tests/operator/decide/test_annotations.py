from __future__ import annotations

from typing import Any

import pytest

from stanchion_operator.decide.annotations import Orders, read


def annotated(**annotations: str) -> dict[str, Any]:
    names = {f"stanchion.dev/{name.replace('_', '-')}": value for name, value in annotations.items()}
    return {"metadata": {"annotations": names}}


@pytest.mark.parametrize(
    ("annotations", "orders"),
    [
        ({}, Orders()),
        ({"paused": "true"}, Orders(paused=True)),
        ({"paused": "false"}, Orders()),
        ({"paused_replicas": "0"}, Orders(paused_replicas=0)),
        ({"paused_scale_in": "true"}, Orders(paused_scale_in=True)),
        ({"paused_scale_out": "true"}, Orders(paused_scale_out=True)),
        ({"take_over": "true"}, Orders(take_over=True)),
        ({"force_delete": "true"}, Orders(force_delete=True)),
    ],
)
def test_orders_are_read(annotations: dict[str, str], orders: Orders) -> None:
    assert read(annotated(**annotations)) == orders


@pytest.mark.parametrize("annotations", [{"paused": "yes"}, {"paused_replicas": "-1"}, {"take_over": ""}])
def test_what_cannot_be_read_is_reported_and_not_obeyed(annotations: dict[str, str]) -> None:
    orders = read(annotated(**annotations))
    assert len(orders.problems) == 1
    assert Orders(problems=orders.problems) == orders


def test_an_object_without_annotations_gives_no_orders() -> None:
    assert read({"metadata": {}}) == Orders()
