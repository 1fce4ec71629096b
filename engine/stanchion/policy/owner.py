"""Who declared a policy: the identity that decides ownership, age and generation."""

from __future__ import annotations

from dataclasses import dataclass

from stanchion.policy.section import Json, Section

DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True)
class Owner:
    """One manifest's metadata. `created_at` is RFC 3339 UTC as the API server writes it, "" if unknown."""

    namespace: str
    name: str
    uid: str = ""
    generation: int = 1
    created_at: str = ""

    @property
    def key(self) -> str:
        """`namespace/name`, as it stands in the config hashes."""
        return f"{self.namespace}/{self.name}"

    @property
    def age_order(self) -> tuple[str, str]:
        """Sorts older before younger, then by name."""
        return (self.created_at, self.key)

    @classmethod
    def from_manifest(cls, manifest: Json) -> Owner:
        """Reads `metadata`. Raises InvalidPolicy if there is no name."""
        metadata = Section(manifest.get("metadata") or {}, "metadata")
        return cls(
            namespace=metadata.text("namespace") or DEFAULT_NAMESPACE,
            name=metadata.required("name"),
            uid=metadata.text("uid", ""),
            generation=metadata.integer("generation", 1),
            created_at=metadata.text("creationTimestamp", ""),
        )
