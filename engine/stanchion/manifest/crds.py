"""The custom resource definitions this version was built with: the single source of every schema.

A wheel carries the folder as `stanchion/_crds`, a checkout has it as `crds/` beside `engine/`.
Called by `load` and `check`. Read once, never changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from stanchion.errors import StanchionError
from stanchion.manifest.document import Json

GROUP = "stanchion.dev"
_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE / "_crds", _PACKAGE.parents[1] / "crds")


@dataclass(frozen=True, slots=True)
class CustomResource:
    """One served version of one kind, with its structural schema."""

    kind: str
    plural: str
    api_version: str
    schema: Json
    replicas_path: tuple[str, ...] = ()
    """Where the scale subresource finds the wanted replicas: (spec, workers, replicas), or nothing."""


def folder() -> Path:
    """Where the definitions are. Raises StanchionError if this installation has lost them."""
    for place in _PLACES:
        if place.is_dir():
            return place
    raise StanchionError(
        f"the custom resource definitions are missing from {_PLACES[0]}; reinstall stanchion"
    )


@lru_cache(maxsize=1)
def custom_resources() -> dict[str, CustomResource]:
    """Every kind of our group by name, in its stored version."""
    found: dict[str, CustomResource] = {}
    for file in sorted(folder().glob("*.yaml")):
        definition = yaml.safe_load(file.read_text("utf-8"))["spec"]
        version = next(version for version in definition["versions"] if version["storage"])
        names, scale = definition["names"], version["subresources"].get("scale", {})
        found[names["kind"]] = CustomResource(
            kind=names["kind"],
            plural=names["plural"],
            api_version=f"{definition['group']}/{version['name']}",
            schema=version["schema"]["openAPIV3Schema"],
            replicas_path=tuple(scale.get("specReplicasPath", "").split(".")[1:]),
        )
    return found
