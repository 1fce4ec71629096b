"""The operator as a process of its own, quick enough for tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

TICK_SECONDS = 0.5
RESYNC_SECONDS = 4.0


class OperatorProcess:
    """`python -m stanchion_operator run` against one cluster."""

    def __init__(self, kubeconfig: Path, log: Path, *flags: str) -> None:
        self._kubeconfig, self._log, self._flags = kubeconfig, log, flags
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = int(probe.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        """What it has said so far."""
        return self._log.read_text()

    def start(self) -> None:
        """Start it; its probes answer soon after."""
        argv = [sys.executable, "-m", "stanchion_operator", "run", "--health", f"127.0.0.1:{self.port}"]
        argv += ["--tick-seconds", str(TICK_SECONDS), "--resync-seconds", str(RESYNC_SECONDS), *self._flags]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                argv, stderr=log, stdout=log, env={**os.environ, "KUBECONFIG": str(self._kubeconfig)}
            )

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(20)

    def wait(self) -> int:
        """The exit code, once it has ended by itself."""
        assert self._process is not None
        return self._process.wait(30)

    def is_leading(self) -> bool:
        """Whether its own metrics say so."""
        return "stanchion_operator_leading 1.0" in self.get("/metrics")

    def get(self, path: str) -> str:
        """The body of one of its pages; empty while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return str(answer.read(), "utf-8")
        except OSError:
            return ""

    def __enter__(self) -> OperatorProcess:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            self.stop()  # gently, so that the next one need not wait for the Lease to lapse
