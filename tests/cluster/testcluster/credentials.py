"""Who may talk to whom: the cluster's certificates, its service-account key and its users.

Users are bearer tokens in a file, not client certificates: any number of them costs nothing, which is
what tests of access rights want.
"""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from testcluster.command import run

COMPONENTS = {
    "admin": ("admin", "system:masters"),
    "controller-manager": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
    "kubelet": ("system:node:node", "system:nodes"),
    "proxy": ("system:kube-proxy", ""),
    "dns": ("testcluster:dns", "system:masters"),
}
"""Short name to user name and group; the built-in roles of Kubernetes know these."""

POWERLESS_USERS = ("alice", "bob")
"""Users that may do nothing until a test grants them something."""


@dataclass(frozen=True)
class Credentials:
    """The files under `folder`, made by `create`."""

    folder: Path

    @property
    def authority(self) -> Path:
        """The certificate that clients check the API server's against."""
        return self.folder / "ca.crt"

    @property
    def certificate(self) -> Path:
        """The API server's certificate; its key is `certificate_key`."""
        return self.folder / "apiserver.crt"

    @property
    def certificate_key(self) -> Path:
        return self.folder / "apiserver.key"

    @property
    def service_account_key(self) -> Path:
        """The key that signs service-account tokens."""
        return self.folder / "service-account.key"

    @property
    def token_file(self) -> Path:
        """The API server's list of users: token, name, uid, group."""
        return self.folder / "tokens.csv"

    def kubeconfig(self, user: str) -> Path:
        """The kubeconfig of a component or user by its short name."""
        return self.folder / f"{user}.kubeconfig"


def create(folder: Path, server_ip: str, service_ip: str, server_url: str) -> Credentials:
    """Make everything anew, for an API server at `server_url` that also answers on `service_ip`."""
    folder.mkdir(mode=0o700)
    made = Credentials(folder)
    _certificates(made, server_ip, service_ip)
    lines = []
    for short, (name, group) in {**COMPONENTS, **{u: (u, "") for u in POWERLESS_USERS}}.items():
        token = secrets.token_hex(16)
        lines.append(f'{token},{name},{name},"{group}"')
        made.kubeconfig(short).write_text(json.dumps(_kubeconfig(made, server_url, name, token), indent=1))
    made.token_file.write_text("\n".join(lines) + "\n")
    return made


def _certificates(made: Credentials, server_ip: str, service_ip: str) -> None:
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "30"]
    authority_key = str(made.folder / "ca.key")
    # Python 3.13 verifies strictly: without these extensions it refuses the chain.
    authority = ["-addext", "keyUsage=critical,keyCertSign,cRLSign", "-subj", "/CN=testcluster"]
    files = ["-keyout", authority_key, "-out", str(made.authority)]
    run(["openssl", "req", "-x509", *new_key, *authority, *files])

    names = [f"IP:{server_ip}", f"IP:{service_ip}", "DNS:localhost"]
    names += ["DNS:kubernetes", "DNS:kubernetes.default", "DNS:kubernetes.default.svc"]
    extensions = [
        "basicConstraints=critical,CA:FALSE",
        "keyUsage=critical,digitalSignature",
        "extendedKeyUsage=serverAuth",
        f"subjectAltName={','.join(names)}",
    ]
    added = [part for extension in extensions for part in ("-addext", extension)]
    signed = ["-CA", str(made.authority), "-CAkey", authority_key, "-subj", "/CN=kube-apiserver"]
    files = ["-keyout", str(made.certificate_key), "-out", str(made.certificate)]
    run(["openssl", "req", "-x509", *new_key, *signed, *added, *files])

    # In this older form the API server can read the public half out of the same file.
    key = ["-name", "prime256v1", "-genkey", "-noout", "-out", str(made.service_account_key)]
    run(["openssl", "ecparam", *key])


def _kubeconfig(made: Credentials, server_url: str, user: str, token: str) -> dict[str, object]:
    cluster = {"server": server_url, "certificate-authority": str(made.authority)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "testcluster",
        "clusters": [{"name": "testcluster", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": "testcluster", "context": {"cluster": "testcluster", "user": user}}],
    }
