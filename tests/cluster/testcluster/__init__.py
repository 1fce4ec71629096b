"""A real Kubernetes cluster for the tests, made from package registries only.

Two sizes. The control plane (etcd, API server, controller manager, scheduler) needs Go and no root and
listens on loopback. With a node it needs root on Linux: everything then lives in Linux namespaces of
its own, with a kubelet, containerd, Services and DNS, and runs images built from our own Dockerfiles.

Read in this order: `cluster` composes; `control_plane`, `node`, `network` and `containerd` say which
process runs with which settings; `place` says where; `state` says how nothing is left behind;
`binaries`, `clients`, `base_image` and `images` say where the programs come from. `fixtures` is the
pytest plugin, `cli` the command behind `make cluster-up`.
"""
