"""The control plane: etcd, the API server, the controller manager and the scheduler.

Only flags live here. What differs from a released cluster differs for a reason that stands beside it.
"""

import socket
from collections.abc import Sequence
from pathlib import Path

from testcluster.credentials import Credentials
from testcluster.place import Place
from testcluster.process import Process
from testcluster.state import State

SERVICE_RANGE = "10.96.0.0/16"
SERVICE_IP = "10.96.0.1"
"""The first address of the range: the Service `kubernetes`."""


def free_ports(count: int) -> list[int]:
    """Ports that nothing listened on a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(s.getsockname()[1]) for s in sockets]
    for each in sockets:
        each.close()
    return ports


class ControlPlane:
    """The four processes: `start` the store and the API server, and once that is ready the controllers."""

    def __init__(self, state: State, place: Place, binary: Path) -> None:
        self.api_port, self._etcd_port, self._peer_port = free_ports(3)
        self.server_url = f"https://{place.address}:{self.api_port}"
        self._state, self._place, self._binary = state, place, binary
        self._processes: list[Process] = []

    def start(self, credentials: Credentials, *, with_node: bool) -> None:
        """Start etcd and the API server, which find each other without our help."""
        self._start("etcd", self._etcd())
        self._start("kube-apiserver", self._api_server(credentials, with_node))

    def start_controllers(self, credentials: Credentials) -> None:
        """Start the others. The controller manager ends if it finds no API server within ten seconds."""
        self._start("kube-controller-manager", self._controller_manager(credentials))
        self._start("kube-scheduler", _client_flags(credentials, "scheduler"))

    def check(self) -> None:
        """Raise ClusterError if one of them has ended."""
        for process in self._processes:
            process.check()

    def _start(self, component: str, flags: Sequence[str]) -> None:
        argv = self._place.command([str(self._binary), component, *flags])
        self._processes.append(Process(self._state, component, argv))

    def _etcd(self) -> list[str]:
        url, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{self._peer_port}"
        return [
            f"--data-dir={self._state.root / 'etcd'}",
            f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",  # the data need not survive this machine
        ]

    def _api_server(self, credentials: Credentials, with_node: bool) -> list[str]:
        key = credentials.service_account_key
        # On loopback there is nothing that pods could reach, and the server refuses to publish it.
        reconciler = "lease" if with_node else "none"
        return [
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            f"--bind-address={self._place.address}",
            f"--advertise-address={self._place.address}",
            f"--secure-port={self.api_port}",
            f"--endpoint-reconciler-type={reconciler}",
            f"--tls-cert-file={credentials.certificate}",
            f"--tls-private-key-file={credentials.certificate_key}",
            f"--token-auth-file={credentials.token_file}",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            "--kubelet-preferred-address-types=InternalIP",  # else `kubectl logs` asks DNS for the node
        ]

    def _controller_manager(self, credentials: Credentials) -> list[str]:
        return [
            *_client_flags(credentials, "controller-manager"),
            "--use-service-account-credentials",
            f"--service-account-private-key-file={credentials.service_account_key}",
            f"--root-ca-file={credentials.authority}",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            "--horizontal-pod-autoscaler-sync-period=2s",  # by default 15 s: too long to wait for in tests
            "--kube-api-qps=100",
            "--kube-api-burst=200",
        ]


def _client_flags(credentials: Credentials, user: str) -> list[str]:
    # One of each, so no election; nobody asks for their metrics, so no port.
    kubeconfig = f"--kubeconfig={credentials.kubeconfig(user)}"
    return [kubeconfig, "--leader-elect=false", "--secure-port=0"]
