"""Pods of a Deployment, read only when fewer are wanted, and the mark that says which may go first."""

from __future__ import annotations

from typing import Any

from stanchion_operator.errors import ApiError
from stanchion_operator.kube.client import MERGE, Api
from stanchion_operator.kube.objects import list_all
from stanchion_operator.kube.paths import POD, Key

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


async def of_selector(api: Api, namespace: str, selector: str) -> list[dict[str, Any]]:
    """The pods a Deployment's selector names."""
    return await list_all(api, POD, namespace, selector)


async def set_deletion_cost(api: Api, pod: Key, cost: int) -> None:
    """Pods of lower cost are removed first; a pod that has gone needs no mark."""
    body = {"metadata": {"annotations": {DELETION_COST: str(cost)}}}
    try:
        await api.write("PATCH", pod.path, body=body, content_type=MERGE)
    except ApiError as error:
        if error.status != 404:
            raise
