"""Where a cluster's processes run: on this machine as it is, or in Linux namespaces of their own.

The namespaces (mounts, processes, network) begin with one process and end with it: when it dies the
kernel ends everything in them and takes back every mount, interface and rule. So a node cannot leave
anything behind, and two of them cannot meet.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from testcluster.errors import ClusterError
from testcluster.process import Process
from testcluster.state import State
from testcluster.waiting import wait_until


class Place(Protocol):
    """How to run something where the cluster is."""

    address: str

    def command(self, argv: Sequence[str]) -> list[str]:
        """`argv`, changed so that it runs as a component of the cluster."""
        ...

    def in_network(self, argv: Sequence[str]) -> list[str]:
        """`argv`, changed so that it sees the cluster's network and everything else of this machine."""
        ...


class Loopback:
    """This machine as it is; needs no rights."""

    address = "127.0.0.1"

    def command(self, argv: Sequence[str]) -> list[str]:
        return list(argv)

    def in_network(self, argv: Sequence[str]) -> list[str]:
        return list(argv)


FIRST_PROCESS = r"""
set -e
mount -t tmpfs run /run
mkdir -p /var/lib/cni
mount -t tmpfs cni /var/lib/cni
# The kubelet sets these for the whole machine: give it copies to write to.
mount -t tmpfs sysctl "$1"
for key in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops \
    kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
    [ -e /proc/sys/$key ] || continue
    copy="$1/$(echo $key | tr / .)"
    cat /proc/sys/$key > "$copy"
    mount --bind "$copy" /proc/sys/$key
done
trap '' CHLD  # orphans are reaped by the kernel
touch "$2"
exec sleep infinity
"""


class Namespaces:
    """Linux namespaces for a whole node. Needs root."""

    def __init__(self, state: State, address: str) -> None:
        self.address = address
        if state.root.is_relative_to("/run") or state.root.is_relative_to("/var/lib/cni"):
            raise ClusterError(f"{state.root} is hidden inside the node; set XDG_CACHE_HOME elsewhere")
        copies, ready = state.root / "sysctl", state.root / "namespaces-ready"
        copies.mkdir()
        kinds = ["--mount", "--pid", "--net", "--mount-proc", "--propagation", "private"]
        first = ["sh", "-c", FIRST_PROCESS, "first-process", str(copies), str(ready)]
        outer = Process(state, "namespaces", ["unshare", *kinds, "--fork", "--kill-child", *first])

        def entered() -> bool:
            outer.check()
            return ready.exists()

        wait_until(entered, "the namespaces", timeout_seconds=20)
        pid = outer.popen.pid
        self.pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def command(self, argv: Sequence[str]) -> list[str]:
        return ["nsenter", f"--target={self.pid}", "--mount", "--pid", "--net", "--", *argv]

    def in_network(self, argv: Sequence[str]) -> list[str]:
        return ["nsenter", f"--target={self.pid}", "--net", "--", *argv]
