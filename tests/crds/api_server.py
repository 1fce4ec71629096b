"""A small client for one API server: what kubectl sends, without starting kubectl for each request."""

from __future__ import annotations

import http.client
import json
import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from stanchion.manifest.crds import custom_resources
from stanchion.manifest.document import Json
from stanchion.manifest.problem import Cause, duplicate_field, unknown_field

API_VERSION = "stanchion.dev/v1alpha1"
_STRICT = re.compile(r'(unknown|duplicate) field "([^"]+)"')
_MAKERS = {"unknown": unknown_field, "duplicate": duplicate_field}


@dataclass(frozen=True)
class Answer:
    """A response: the object, or the Status that refuses it."""

    code: int
    body: Json

    @property
    def accepted(self) -> bool:
        return self.code < 300

    @property
    def causes(self) -> frozenset[Cause]:
        """Why the request was refused, in the terms of offline validation."""
        if self.accepted:
            return frozenset()
        if "strict decoding error" in self.body["message"]:
            found = _STRICT.findall(self.body["message"])
            return frozenset(_MAKERS[what](path) for what, path in found)
        causes = self.body["details"]["causes"]
        return frozenset(Cause(cause["field"], cause["reason"], cause["message"]) for cause in causes)


class ApiServer:
    """One connection, as the kubeconfig's user. A context manager."""

    def __init__(self, kubeconfig: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        context = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._connection = http.client.HTTPSConnection(
            urlsplit(cluster["server"]).netloc, context=context, timeout=30
        )
        self._headers = {"Authorization": f"Bearer {config['users'][0]['user']['token']}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._connection.close()

    def send(self, method: str, path: str, text: str = "", *, content: str = "application/yaml") -> Answer:
        """One request; `text` is YAML or JSON."""
        headers = {**self._headers, "Content-Type": content}
        self._connection.request(method, path, text.encode(), headers)
        response = self._connection.getresponse()
        return Answer(response.status, json.loads(response.read()))


def collection(kind: str, namespace: str = "default") -> str:
    """The path of all objects of one of our kinds in a namespace."""
    return f"/apis/{API_VERSION}/namespaces/{namespace}/{custom_resources()[kind].plural}"
