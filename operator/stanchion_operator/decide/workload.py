"""What a Deployment's own status says about the workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """The Deployment that runs a queue. `trouble` is its own explanation where it has one."""

    name: str
    wanted: int
    running: int
    ready: int
    selector: str
    rolling: bool = False
    """A rollout is under way: surge pods come and go, so nothing may be taken away."""
    trouble: str = ""
    observed: bool = True
    """The Deployment controller has seen the present spec, so its status is about that."""
    unavailable_since: float | None = None
    """Epoch seconds at which too few pods were ready for the first time; None while enough are."""


def read(deployment: Json) -> Workload:
    """The facts of one Deployment."""
    metadata, spec, status = deployment["metadata"], deployment["spec"], deployment.get("status") or {}
    wanted = int(spec.get("replicas", 1))
    observed = status.get("observedGeneration", 0) >= metadata.get("generation", 0)
    return Workload(
        name=metadata["name"],
        wanted=wanted,
        running=int(status.get("replicas", 0)),
        ready=int(status.get("readyReplicas", 0)),
        selector=_selector(spec.get("selector") or {}),
        rolling=not observed or status.get("updatedReplicas", 0) < wanted,
        trouble=_trouble(status.get("conditions") or ()),
        observed=observed,
        unavailable_since=_unavailable_since(status.get("conditions") or ()),
    )


def _selector(selector: Json) -> str:
    """Equality terms and expressions in the one-line form that list requests take."""
    terms = [f"{name}={value}" for name, value in sorted((selector.get("matchLabels") or {}).items())]
    for expression in selector.get("matchExpressions") or ():
        name, operator = expression["key"], expression["operator"]
        values = ",".join(expression.get("values") or ())
        terms.append(
            {
                "In": f"{name} in ({values})",
                "NotIn": f"{name} notin ({values})",
                "Exists": name,
                "DoesNotExist": f"!{name}",
            }[operator]
        )
    return ",".join(terms)


def _trouble(conditions: Any) -> str:
    for condition in conditions:
        failed = condition["type"] == "ReplicaFailure" and condition["status"] == "True"
        stuck = condition["type"] == "Progressing" and condition["status"] == "False"
        if failed or stuck:
            return f"{condition['reason']}: {condition['message']}"
    return ""


def _unavailable_since(conditions: Any) -> float | None:
    for condition in conditions:
        if condition["type"] == "Available" and condition["status"] == "False":
            return datetime.fromisoformat(condition["lastTransitionTime"]).timestamp()
    return None
