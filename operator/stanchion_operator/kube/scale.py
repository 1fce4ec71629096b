"""The scale subresource of Deployments: the only way a number of replicas is ever written."""

from __future__ import annotations

from dataclasses import dataclass

from stanchion_operator.kube.client import APPLY, Api
from stanchion_operator.kube.paths import Key

MANAGER = "stanchion-scaler"


@dataclass(frozen=True, slots=True)
class Scale:
    """`replicas` is what the Deployment asks for, `running` what it has."""

    replicas: int
    running: int
    selector: str
    resource_version: str


async def read(api: Api, deployment: Key) -> Scale:
    """The present number. Raises ApiError, 404 if there is no such Deployment."""
    answer = await api.request("GET", f"{deployment.path}/scale")
    return Scale(
        replicas=int(answer["spec"].get("replicas") or 0),
        running=int(answer.get("status", {}).get("replicas") or 0),
        selector=str(answer.get("status", {}).get("selector") or ""),
        resource_version=answer["metadata"]["resourceVersion"],
    )


async def write(api: Api, deployment: Key, replicas: int, resource_version: str, *, force: bool) -> None:
    """Set the number, if the Deployment is still as it was read.

    Raises ApiError with status 409: with `other_managers` if another scaler owns the number and `force`
    is not set; without, if the object has changed meanwhile.
    """
    await api.write(
        "PATCH",
        f"{deployment.path}/scale",
        query={"fieldManager": MANAGER, "force": force},
        body={
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {
                "name": deployment.name,
                "namespace": deployment.namespace,
                "resourceVersion": resource_version,
            },
            "spec": {"replicas": replicas},
        },
        content_type=APPLY,
    )
