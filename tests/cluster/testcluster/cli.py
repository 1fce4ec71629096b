"""`python -m testcluster up | down | status`: a cluster to play with, until you stop it."""

import argparse
import shlex
import sys

from testcluster import cache, images, requirements
from testcluster.cluster import Cluster, NodeCluster, prepare
from testcluster.errors import ClusterError
from testcluster.state import State

NOTES = "how-to-use"
"""The file in the state folder that `status` repeats."""


def main() -> int:
    """Exit codes: 0 done, 1 the work failed, 2 the command was wrong or cannot run on this machine."""
    parser = argparse.ArgumentParser(prog="testcluster", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="up | down | status")
    up = commands.add_parser("up", help="start a cluster in the background, replacing a former one")
    up.add_argument("--node", action="store_true", help="with a node, so that pods run (needs root)")
    up.set_defaults(run=lambda args: _up(with_node=args.node))
    commands.add_parser("down", help="stop it and leave nothing behind").set_defaults(run=lambda _: _down())
    commands.add_parser("status", help="say whether it runs").set_defaults(run=lambda _: _status())
    args = parser.parse_args()
    try:
        return int(args.run(args))
    except ClusterError as error:
        print(f"testcluster: {error}", file=sys.stderr)
        return 1


def _state() -> State:
    return State(cache.folder() / "up")


def _up(*, with_node: bool) -> int:
    if missing := requirements.missing("node" if with_node else "api"):
        print(f"testcluster: this machine lacks: {', '.join(missing)}", file=sys.stderr)
        return 2
    _down()
    print("building what the cache lacks (minutes the first time) …", file=sys.stderr)
    prepare(with_node=with_node)
    state = _state()
    state.create()
    try:
        cluster = NodeCluster(state) if with_node else Cluster(state)
        cluster.start()
        notes = _notes(cluster)
    except BaseException:
        state.remove()
        raise
    (state.root / NOTES).write_text(notes)
    return _status()


def _down() -> int:
    state = _state()
    if state.root.exists():
        state.remove()
    return 0


def _status() -> int:
    state = _state()
    if not state.processes() or not (state.root / NOTES).exists():
        print("no cluster runs")
        return 1
    print((state.root / NOTES).read_text(), end="")
    return 0


def _notes(cluster: Cluster) -> str:
    """How a person goes on from here."""
    kubectl = shlex.join(cluster.kubectl_command)
    lines = [f"export KUBECONFIG={cluster.kubeconfig}", f"{kubectl} get all --all-namespaces"]
    if isinstance(cluster, NodeCluster):
        tags = [cluster.load_image(name) for name in images.TAGS]
        lines.append(f"# imagePullPolicy: Never finds {', '.join([cluster.python_image, *tags])}")
    return "\n".join(lines) + "\n"
