"""The node: kubelet, kube-proxy and DNS, beside a containerd. Only their configuration lives here."""

import json
from pathlib import Path

from testcluster import network
from testcluster.containerd import SOCKET
from testcluster.credentials import Credentials
from testcluster.place import Place
from testcluster.process import Process
from testcluster.state import State

NAME = "node"
DOMAIN = "cluster.local"


class Node:
    """Three processes, started by `start`."""

    def __init__(self, state: State, place: Place, credentials: Credentials) -> None:
        self._state, self._place, self._credentials = state, place, credentials
        self._processes: list[Process] = []

    def start(self, binary: Path, dns_binary: Path) -> None:
        """Start all; the node is ready when the API server says so."""
        kubelet = self._write("kubelet.json", _kubelet(self._state))
        proxy = self._write("kube-proxy.json", _proxy(self._credentials))
        corefile = self._state.root / "Corefile"
        corefile.write_text(_corefile(self._credentials))
        self._start(
            "kubelet",
            *[str(binary), "kubelet", f"--config={kubelet}", f"--hostname-override={NAME}"],
            f"--kubeconfig={self._credentials.kubeconfig('kubelet')}",
            f"--node-ip={network.ADDRESS}",
            f"--root-dir={self._state.root / 'kubelet'}",
            f"--cert-dir={self._state.root / 'kubelet-tls'}",
        )
        self._start("kube-proxy", str(binary), "kube-proxy", f"--config={proxy}")
        self._start("coredns", str(dns_binary), f"-conf={corefile}")

    def check(self) -> None:
        """Raise ClusterError if one of them has ended."""
        for process in self._processes:
            process.check()

    def _start(self, component: str, *argv: str) -> None:
        self._processes.append(Process(self._state, component, self._place.command(argv)))

    def _write(self, name: str, configuration: dict[str, object]) -> Path:
        file = self._state.root / name
        file.write_text(json.dumps(configuration, indent=1))
        return file


def _kubelet(state: State) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": SOCKET,
        "address": network.ADDRESS,
        "healthzPort": 0,
        # Nobody but this cluster can reach the port; the API server brings no certificate of its own.
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "clusterDNS": [network.ADDRESS],
        "clusterDomain": DOMAIN,
        "resolvConf": "",
        # The machine may have control groups of version 1, and is shared with everything else on it.
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        "cgroupRoot": f"/{state.control_group}",
        "failSwapOn": False,
        # A full disk or memory of the machine must fail a test by itself, not by evicting pods.
        "evictionHard": {"memory.available": "1Mi", "nodefs.available": "0.1%", "imagefs.available": "0.1%"},
        "imageGCHighThresholdPercent": 100,
        "podLogsDir": str(state.root / "pod-logs"),
        "volumePluginDir": str(state.root / "volume-plugins"),
        "maxPods": 200,
        "nodeStatusReportFrequency": "1m",
    }


def _proxy(credentials: Credentials) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": str(credentials.kubeconfig("proxy"))},
        "hostnameOverride": NAME,
        "mode": "nftables",
        "clusterCIDR": network.POD_RANGE,
        "bindAddress": network.ADDRESS,
        # The table's size belongs to the machine; a namespace may not set it.
        "conntrack": {"maxPerCore": 0, "min": 0},
    }


def _corefile(credentials: Credentials) -> str:
    return f"""
.:53 {{
    bind {network.ADDRESS}
    errors
    kubernetes {DOMAIN} in-addr.arpa {{
        kubeconfig {credentials.kubeconfig("dns")}
    }}
}}
"""
