"""A certificate authority of a test's own."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Authority:
    """Makes a CA in `folder` and signs keys for 127.0.0.1 with it, by the openssl command."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.ca = folder / "ca.crt"
        self._openssl(
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Test CA"),
            *("-keyout", "ca.key", "-out", "ca.crt"),
        )

    def issue(self, name: str) -> tuple[Path, Path]:
        """The certificate and the key of `name`."""
        self._openssl(
            *("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{name}.key", "-out", f"{name}.csr"),
        )
        self._openssl(
            *("x509", "-req", "-days", "2", "-copy_extensions", "copy", "-in", f"{name}.csr"),
            *("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.crt"),
        )
        return self._folder / f"{name}.crt", self._folder / f"{name}.key"

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self._folder, check=True, capture_output=True)
