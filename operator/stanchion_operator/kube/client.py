"""One request to the API server: JSON in, JSON out, a time limit, and our error for every refusal.

The other files of this room say which requests there are. Objects are plain mappings on purpose: the
client library's models refuse fields of newer servers and write defaults of their own into an apply.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
from kubernetes.aio import client, config

from stanchion_operator.errors import ApiError, StartupFailed

Json = Mapping[str, Any]
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
REQUEST_TIMEOUT_SECONDS = 4.0
"""Below the Lease's margin: a write that was allowed when it was sent is over before the Lease can lapse."""


class Api:
    """A connection to the API server. Made once, closed once."""

    def __init__(self, configuration: client.Configuration) -> None:
        configuration.retries = False  # the work queue retries, and knows when not to
        self._client = client.ApiClient(configuration)
        self.guard: Callable[[], None] = _unguarded

    @classmethod
    async def connect(cls) -> Api:
        """In a pod the service account's rights, else those of KUBECONFIG. Raises StartupFailed."""
        configuration = client.Configuration()
        try:
            if "KUBERNETES_SERVICE_HOST" in os.environ and "KUBECONFIG" not in os.environ:
                config.load_incluster_config(client_configuration=configuration)
            else:
                await config.load_kube_config(client_configuration=configuration)
        except (config.ConfigException, OSError) as error:
            raise StartupFailed(
                f"no access to a cluster: {error}. Run in a pod with a service account, or set KUBECONFIG"
            ) from error
        return cls(configuration)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def write(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """As `request`, for whatever only the leader may do. Raises NotLeading without asking the server."""
        self.guard()
        return await self.request(method, path, **options)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | bool] | None = None,
        body: Json | list[Json] | None = None,
        content_type: str = "application/json",
        timeout_seconds: float = REQUEST_TIMEOUT_SECONDS,
    ) -> dict[str, Any]:
        """The decoded answer. Raises ApiError for every answer that is not 2xx, and when there is none."""
        try:
            verb, url, headers, data, _ = await self._client.param_serialize(
                method,
                path,
                query_params=[(key, _query_value(value)) for key, value in (query or {}).items()],
                header_params={"Accept": "application/json", "Content-Type": content_type},
                body=body,
                auth_settings=["BearerToken"],
            )
            answer = await self._client.call_api(verb, url, headers, data, _request_timeout=timeout_seconds)
            text = await answer.read()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise ApiError(0, f"{method} {path}: {error or type(error).__name__}") from error
        if 200 <= answer.status <= 299:
            decoded: dict[str, Any] = json.loads(text) if text else {}
            return decoded
        raise _refusal(answer.status, text)


def _unguarded() -> None:
    """Until the Lease is asked: what runs before it only reads."""


def _query_value(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value


def _refusal(status: int, text: bytes) -> ApiError:
    try:
        answer = json.loads(text)
        causes = (answer.get("details") or {}).get("causes") or ()
        return ApiError(
            status,
            answer.get("message", ""),
            tuple((cause.get("reason", ""), cause.get("message", "")) for cause in causes),
        )
    except (ValueError, AttributeError):
        return ApiError(status, text.decode(errors="replace")[:200])
