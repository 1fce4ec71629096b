"""Reads, lists, applies and deletes: what is the same for every kind. Every write asks the Lease first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stanchion_operator.errors import ApiError
from stanchion_operator.kube.client import APPLY, JSON_PATCH, Api
from stanchion_operator.kube.paths import Key, collection

LIST_TIMEOUT_SECONDS = 30.0
LIST_CHUNK = 500

SHAPE = "stanchion"
"""Field manager of the Deployments' shape. Never applies `replicas`."""


async def get(api: Api, key: Key) -> dict[str, Any] | None:
    """The object, or None if there is none."""
    try:
        return await api.request("GET", key.path)
    except ApiError as error:
        if error.status == 404:
            return None
        raise


async def list_all(
    api: Api, kind: str, namespace: str | None, label_selector: str = ""
) -> list[dict[str, Any]]:
    """Every object of a kind, in chunks, as the API server has it now."""
    query = {"limit": str(LIST_CHUNK)} | ({"labelSelector": label_selector} if label_selector else {})
    objects: list[dict[str, Any]] = []
    while True:
        page = await api.request(
            "GET", collection(kind, namespace), query=query, timeout_seconds=LIST_TIMEOUT_SECONDS
        )
        objects += page["items"]
        rest = page["metadata"].get("continue")
        if not rest:
            return objects
        query["continue"] = rest


async def apply(api: Api, key: Key, body: Mapping[str, Any], *, manager: str = SHAPE) -> dict[str, Any]:
    """Server-side apply of our full intent; what we applied before and leave out now is removed."""
    return await api.write(
        "PATCH",
        key.path,
        query={"fieldManager": manager, "force": True},
        body=body,
        content_type=APPLY,
    )


async def delete(api: Api, key: Key, uid: str) -> None:
    """Delete the object of exactly that uid; gone already, or another one by now, is success."""
    try:
        await api.write("DELETE", key.path, body={"preconditions": {"uid": uid}})
    except ApiError as error:
        if error.status not in (404, 409):
            raise


async def set_finalizers(api: Api, key: Key, manifest: Mapping[str, Any], finalizers: list[str]) -> None:
    """Write the list of finalizers if nobody has written the object since `manifest`; gone is success."""
    patch = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": manifest["metadata"]["resourceVersion"]},
        {"op": "add", "path": "/metadata/finalizers", "value": finalizers},
    ]
    try:
        await api.write("PATCH", key.path, body=patch, content_type=JSON_PATCH)
    except ApiError as error:
        if error.status != 404:
            raise
