"""A Redis that both pods and the test process reach, without a hole in the cluster's network."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from testcluster.place import Place
from testcluster.process import Process
from testcluster.state import State
from testcluster.waiting import wait_until

PORT = 6379


@dataclass(frozen=True)
class ReachableRedis:
    """Where the server is: pods use the node's address, the test process a socket in the file system."""

    url_for_pods: str
    url_for_tests: str
    popen: "subprocess.Popen[bytes]"


@contextmanager
def serve(state: State, place: Place, port: int = PORT) -> Iterator[ReachableRedis]:
    """An empty server until the end of the block."""
    folder = state.root / f"redis-{uuid4().hex[:8]}"
    folder.mkdir()
    socket = folder / "redis.sock"
    flags = ["--bind", place.address, "127.0.0.1", "--port", str(port), "--unixsocket", str(socket)]
    flags += ["--dir", str(folder), "--save", "", "--protected-mode", "no"]
    process = Process(state, folder.name, place.in_network(["redis-server", *flags]))
    try:
        wait_until(lambda: _listens(process, socket), f"redis-server on port {port}", timeout_seconds=10)
        yield ReachableRedis(f"redis://{place.address}:{port}/0", f"unix://{socket}", process.popen)
    finally:
        process.popen.terminate()
        process.popen.wait(timeout=20)


def _listens(process: Process, socket: Path) -> bool:
    process.check()
    return socket.exists()
