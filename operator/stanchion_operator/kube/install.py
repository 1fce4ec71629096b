"""What must be there before anything starts: the CRDs, and the id of this installation."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from stanchion_operator.errors import ApiError, StartupFailed
from stanchion_operator.kube.client import Api
from stanchion_operator.kube.paths import OPENAPI, POLICIES

CRD_WAIT_SECONDS = 60.0
RETRY_SECONDS = 1.0


async def wait_for_crds(api: Api, wait_seconds: float = CRD_WAIT_SECONDS) -> None:
    """Wait until the API server serves all three kinds. Raises StartupFailed naming what is missing.

    The published schema is read because every service account may, without any right on CRDs.
    """
    deadline = time.monotonic() + wait_seconds
    while missing := await _missing(api):
        if time.monotonic() >= deadline:
            raise StartupFailed(
                f"after {wait_seconds:.0f} s the API server does not serve {', '.join(missing)}; "
                "install the CRDs first (kubectl apply --server-side -f crds/)"
            )
        await asyncio.sleep(RETRY_SECONDS)


async def install_id(api: Api, own_namespace: str, release_name: str) -> str:
    """Who manages a config hash: the uid of our namespace and the release name. Never reused, never moved."""
    try:
        namespace = await api.request("GET", f"/api/v1/namespaces/{own_namespace}")
    except ApiError as error:
        raise StartupFailed(
            f"namespace {own_namespace} cannot be read ({error}): --own-namespace must name the namespace of "
            "the operator, and its Role must allow to get it"
        ) from error
    return f"{namespace['metadata']['uid']}/{release_name}"


async def _missing(api: Api) -> list[str]:
    try:
        schema = await api.request("GET", OPENAPI)
    except ApiError as error:
        if error.status in (401, 403):
            raise StartupFailed(f"the API server does not know us: {error}") from error
        return list(POLICIES)
    schemas: dict[str, Any] = schema.get("components", {}).get("schemas", {})
    served = {name.rpartition(".")[2] for name in schemas}
    return [kind for kind in POLICIES if kind not in served]
