"""The cluster's own programs, built from the two Go modules beside this package and cached."""

import os
import re
from pathlib import Path

from testcluster import cache
from testcluster.command import run

MODULES = Path(__file__).parent.parent
BUILD_TIMEOUT_SECONDS = 3_000
"""A cold build of Kubernetes takes about eight minutes on two idle cores."""


def kubernetes() -> Path:
    """The binary with the subcommands etcd, kube-apiserver, …, kubelet and kube-proxy."""
    version = _required_version("k8s.io/kubernetes", MODULES / "go" / "go.mod")
    major, minor, _ = version.lstrip("v").split(".")
    # Unset, the version reads v0.0.0-master, and Helm's kubeVersion check and clients judge by it.
    stamp = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    variables = [f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamp.items()]
    return _build(MODULES / "go", ".", " ".join(["-s -w", *variables]), "kubernetes")


def coredns() -> Path:
    """The DNS server."""
    return _build(MODULES / "dns", "github.com/coredns/coredns", "-s -w", "coredns")


def _required_version(module: str, go_mod: Path) -> str:
    found = re.search(rf"^\s*(?:require )?{re.escape(module)} (v\S+)", go_mod.read_text(), re.MULTILINE)
    assert found, f"{go_mod} does not require {module}"
    return found[1]


def _build(module: Path, package: str, linker_flags: str, name: str) -> Path:
    go_version = run(["go", "env", "GOVERSION"]).stdout.strip()
    sources = sorted(module.glob("*.go"))
    inputs = cache.digest(go_version, linker_flags, *sources, module / "go.mod", module / "go.sum")

    def build(target: Path) -> None:
        output = str(target / name)
        run(
            ["go", "build", "-trimpath", "-ldflags", linker_flags, "-o", output, package],
            cwd=module,
            env={**os.environ, "CGO_ENABLED": "0"},
            timeout_seconds=BUILD_TIMEOUT_SECONDS,
        )

    return cache.entry(name, inputs, build) / name
