"""`kubectl get --watch` into a file: the last state of an object that is gone can be read nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testcluster import clients
from testcluster.cluster import NodeCluster

Object = dict[str, Any]


class Watch:
    """Everything that was seen of one kind in one namespace, in order."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def text(self) -> str:
        return self._file.read_text()

    def objects(self) -> list[Object]:
        """Each state of each object, where the output is JSON; a state still being written is left out."""
        decoder, text, at = json.JSONDecoder(), self.text, 0
        states: list[Object] = []
        while (at := text.find("{", at)) >= 0:
            try:
                state, at = decoder.raw_decode(text, at)
            except json.JSONDecodeError:
                break
            states.append(state)
        return states


@contextmanager
def watch(cluster: NodeCluster, folder: Path, kind: str, namespace: str, output: str) -> Iterator[Watch]:
    """Watch a kind until the end of the block; `output` is json or wide."""
    file = folder / f"{kind}.{output}"
    argv = [clients.kubectl(), f"--kubeconfig={cluster.kubeconfig}", "get", kind, "--namespace", namespace]
    with file.open("w") as stream:
        process = cluster.popen_in_network([*map(str, argv), "--watch", f"--output={output}"], stdout=stream)
        try:
            yield Watch(file)
        finally:
            process.terminate()
            process.wait(timeout=10)
