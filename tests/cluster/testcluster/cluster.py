"""A whole cluster: its parts put together, started, used and stopped. Tests use it through the fixtures."""

import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from testcluster import base_image, binaries, clients, credentials, images, network, redis_server
from testcluster.command import run
from testcluster.containerd import Containerd
from testcluster.control_plane import SERVICE_IP, ControlPlane
from testcluster.errors import ClusterError, TimedOut, log_tail
from testcluster.kubectl import Client
from testcluster.node import NAME, Node
from testcluster.place import Loopback, Namespaces, Place
from testcluster.state import State
from testcluster.waiting import wait_until

START_TIMEOUT_SECONDS = 90


def prepare(*, with_node: bool) -> None:
    """Build whatever a cluster of this size needs and the cache lacks: minutes the first time."""
    binaries.kubernetes()
    if with_node:
        binaries.coredns()
        for name in images.TAGS:
            images.archive(name)


class Cluster(Client):
    """The control plane on loopback: no pods run, everything else is real."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._place = self._make_place()
        self._control_plane = ControlPlane(state, self._place, binaries.kubernetes())
        url, address = self._control_plane.server_url, self._place.address
        self._credentials = credentials.create(state.root / "credentials", address, SERVICE_IP, url)
        super().__init__(state, self._place, self._credentials)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.kubeconfig_of("admin")

    def kubeconfig_of(self, user: str) -> Path:
        """The kubeconfig of a user: `admin`, or one of `credentials.POWERLESS_USERS`."""
        return self._credentials.kubeconfig(user)

    @property
    def kubectl_command(self) -> list[str]:
        """How a person runs kubectl against this cluster, with KUBECONFIG set."""
        return self._place.in_network([str(clients.kubectl())])

    def start(self) -> None:
        """Start everything and return when it is ready; raises ClusterError with the log that explains."""
        self._control_plane.start(self._credentials, with_node=False)
        self._wait_for_api()

    def stop(self) -> None:
        """End everything and leave nothing behind."""
        self._state.remove()

    def _make_place(self) -> Place:
        return Loopback()

    def _wait_for_api(self) -> None:
        self._wait(lambda: self._answers("get", "--raw=/readyz"), "kube-apiserver")
        self._control_plane.start_controllers(self._credentials)
        # The controller manager makes this account, so both it and the API server are at work.
        self._wait(lambda: self._answers("get", "serviceaccount", "default"), "kube-controller-manager")

    def _answers(self, *args: str) -> str:
        done = self.kubectl(*args, check=False)
        return done.stdout if done.returncode == 0 else ""

    def _wait(self, check: Any, component: str) -> None:
        def look() -> Any:
            self._check()
            return check()

        try:
            wait_until(look, f"{component} to be ready", START_TIMEOUT_SECONDS)
        except TimedOut as error:
            raise ClusterError(f"{error}\n{log_tail(self._state.log(component))}") from error

    def _check(self) -> None:
        self._control_plane.check()


class NodeCluster(Cluster):
    """A cluster with a node, in namespaces of its own: pods, Services and DNS work."""

    _place: Namespaces

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._loaded: set[str] = set()

    def start(self) -> None:
        network.set_up(self._place)
        self._containerd = Containerd(self._state, self._place, base_image.PAUSE)
        self._node = Node(self._state, self._place, self._credentials)
        self._control_plane.start(self._credentials, with_node=True)
        self._containerd.wait()
        self._containerd.import_images(base_image.archive())
        self._wait_for_api()
        self._node.start(binaries.kubernetes(), binaries.coredns())
        self._wait(self._node_is_ready, "kubelet")

    @property
    def python_image(self) -> str:
        """A small image with Python, for pods of a test's own."""
        return base_image.PYTHON

    def run_in_network(self, argv: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command of this machine that sees the cluster's network; options as `command.run`."""
        return run(self._place.in_network(argv), **options)

    def popen_in_network(self, argv: Sequence[str], **options: Any) -> "subprocess.Popen[str]":
        """Start such a command; it ends with the cluster if the test does not end it. Options as Popen's."""
        env = {**self._state.environment, **options.pop("env", {})}
        return subprocess.Popen(self._place.in_network(argv), text=True, env=env, **options)

    def redis(self) -> AbstractContextManager[redis_server.ReachableRedis]:
        """An empty Redis that pods and the test process reach."""
        return redis_server.serve(self._state, self._place)

    def load_image(self, name: str) -> str:
        """Give pods the project's image `engine` or `operator`; returns its tag."""
        if name not in self._loaded:
            self._containerd.import_images(images.archive(name))
            self._loaded.add(name)
        return images.TAGS[name]

    def build_image(self, folder: Path, tag: str) -> str:
        """Build the Dockerfile in `folder`, which may start FROM ours, and give the image to pods."""
        archive = self._state.root / "built.tar"
        images.build_on_top(folder, tag, archive)
        self._containerd.import_images(archive)
        archive.unlink()
        return tag

    def _make_place(self) -> Place:
        return Namespaces(self._state, network.ADDRESS)

    def _node_is_ready(self) -> bool:
        path = "--output=jsonpath={.status.conditions[?(@.type=='Ready')].status}"
        return self._answers("get", "node", NAME, path) == "True"

    def _check(self) -> None:
        super()._check()
        self._containerd.process.check()
        self._node.check()
