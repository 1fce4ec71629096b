"""containerd: runs the node's containers. Its data lie in the state folder, its sockets in /run."""

from pathlib import Path

from testcluster import network
from testcluster.command import run
from testcluster.place import Place
from testcluster.process import Process
from testcluster.state import State
from testcluster.waiting import wait_until

SOCKET = "unix:///run/containerd/containerd.sock"
IMPORT_TIMEOUT_SECONDS = 100

CONFIGURATION = """
version = 2
root = "{root}/containerd"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{sandbox_image}"
# Without CAP_SYS_RESOURCE a lower score cannot be set, and runc gives up without saying why.
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{plugins}"
conf_dir = "{root}/cni"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
"""


class Containerd:
    """One containerd, inside the node's namespaces."""

    def __init__(self, state: State, place: Place, sandbox_image: str) -> None:
        self._place = place
        network.write_plugin_configuration(state.root / "cni", state.root / "pod-addresses")
        file = state.root / "containerd.toml"
        file.write_text(
            CONFIGURATION.format(root=state.root, sandbox_image=sandbox_image, plugins=network.PLUGINS)
        )
        self.process = Process(state, "containerd", place.command(["containerd", f"--config={file}"]))

    def wait(self) -> None:
        """Return once it answers."""

        def answers() -> bool:
            self.process.check()
            return self._ctr("version", check=False)

        wait_until(answers, "containerd to answer", timeout_seconds=30)

    def import_images(self, archive: Path) -> None:
        """Make all images of an OCI archive available to pods, under the names they carry."""
        self._ctr("image", "import", "--no-unpack=false", str(archive))

    def _ctr(self, *args: str, check: bool = True) -> bool:
        argv = self._place.command(["ctr", "--namespace=k8s.io", *args])
        return run(argv, check=check, timeout_seconds=IMPORT_TIMEOUT_SECONDS).returncode == 0
