"""kubectl and helm against one cluster, as one of its users."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from testcluster import clients
from testcluster.command import run
from testcluster.credentials import Credentials
from testcluster.place import Place
from testcluster.state import State


class Client:
    """Runs the two tools where the cluster is; what they write for themselves stays in the state folder."""

    def __init__(self, state: State, place: Place, credentials: Credentials) -> None:
        self._state, self._place, self._credentials = state, place, credentials

    def kubectl(
        self,
        *args: str,
        input: str | None = None,  # noqa: A002 - subprocess's own word
        user: str = "admin",
        check: bool = True,
        timeout_seconds: float = 60,
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl as `user`; raises ClusterError with its words if it fails, unless not `check`."""
        argv = [str(clients.kubectl()), f"--kubeconfig={self._credentials.kubeconfig(user)}", *args]
        return self._run(argv, input, check, timeout_seconds)

    def get(self, *args: str, user: str = "admin") -> Any:
        """`kubectl get …`, parsed."""
        return json.loads(self.kubectl("get", *args, "--output=json", user=user).stdout)

    def apply(self, *manifests: Mapping[str, Any] | str, user: str = "admin") -> None:
        """Server-side apply of manifests: mappings, or YAML text."""
        documents = [m if isinstance(m, str) else json.dumps(m) for m in manifests]
        self.kubectl("apply", "--server-side", "--filename=-", input="\n---\n".join(documents), user=user)

    @contextmanager
    def namespace(self, prefix: str = "test") -> Iterator[str]:
        """A namespace of the test's own; its deletion is asked for afterwards, not waited for."""
        name = f"{prefix}-{uuid4().hex[:8]}"
        self.kubectl("create", "namespace", name)
        try:
            yield name
        finally:
            self.kubectl("delete", "namespace", name, "--wait=false")

    def helm(
        self,
        *args: str,
        input: str | None = None,  # noqa: A002 - subprocess's own word
        check: bool = True,
        timeout_seconds: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        """Run helm as admin; fails as `kubectl` does."""
        argv = [str(clients.helm()), f"--kubeconfig={self._credentials.kubeconfig('admin')}", *args]
        return self._run(argv, input, check, timeout_seconds)

    def _run(
        self, argv: list[str], text: str | None, check: bool, timeout_seconds: float
    ) -> subprocess.CompletedProcess[str]:
        # Both keep discovery caches under the home directory.
        env = {**os.environ, "HOME": str(self._state.root / "home")}
        placed = self._place.in_network(argv)
        return run(placed, input=text, check=check, timeout_seconds=timeout_seconds, env=env)
