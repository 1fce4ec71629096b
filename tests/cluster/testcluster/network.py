"""The node's network: a bridge that is the node's address, and how pods are attached to it.

The addresses exist only inside the cluster's network namespace, so they are the same for every cluster.
"""

import json
from pathlib import Path

from testcluster.command import run
from testcluster.place import Place

BRIDGE = "cluster0"
ADDRESS = "10.244.0.1"
"""The bridge's address: of the node, of the API server, of DNS, and of a Redis that a test starts."""
POD_RANGE = "10.244.0.0/16"
PLUGINS = Path("/usr/lib/cni")


def set_up(place: Place) -> None:
    """Make the bridge inside the cluster's network namespace."""
    steps = [
        "ip link set lo up",
        f"ip link add {BRIDGE} type bridge",
        f"ip address add {ADDRESS}/16 dev {BRIDGE}",
        f"ip link set {BRIDGE} up",
        # Service addresses are rewritten on the way out, but only where there is a way out.
        f"ip route add default dev {BRIDGE}",
        "sysctl -q -w net.ipv4.ip_forward=1",
        # Pods share the bridge; without this the answer of a Service's pod bypasses the rewrite.
        "sysctl -q -w net.bridge.bridge-nf-call-iptables=1",
    ]
    for step in steps:
        run(place.command(step.split()))


def write_plugin_configuration(folder: Path, data: Path) -> None:
    """Write the CNI configuration that attaches each pod to the bridge; `data` remembers addresses."""
    addresses = {
        "type": "host-local",
        "ranges": [[{"subnet": POD_RANGE, "rangeStart": "10.244.1.1"}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": str(data),
    }
    bridge = {"type": "bridge", "bridge": BRIDGE, "isGateway": True, "hairpinMode": True, "ipam": addresses}
    configuration = {"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge]}
    folder.mkdir(parents=True)
    (folder / "10-pods.conflist").write_text(json.dumps(configuration))
