# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our own node image for kind, for machines that can't pull the one of kind's authors.

It has Debian's base system, the files of kind's own base image (from the Go module cache), and the programs
built here. It also has the control plane's containers, as image archives that containerd imports when it
starts.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import yaml

from . import build, debian, ociarchive, paths, provision
from .command import output, watched
from .console import timed
from .errors import ClusterError
from .programs import CONTAINERD, HELM, KIND, KUBERNETES

FOLDER = paths.BUILD / "kind"
ARCHIVE = FOLDER / "node-image.tar"
STAMP = FOLDER / "node-image.stamp"
NAME = "kyma.local/node:own"
BUSYBOX_NAME = "kyma.local/busybox:1"

# systemd 252 of this release runs on machines with cgroup v1 as well; that of the next one doesn't.
SUITE = "bookworm"
PACKAGES = (
    "busybox-static",
    "ca-certificates",
    "conntrack",
    "containernetworking-plugins",
    "curl",
    "dbus",
    "ethtool",
    "iproute2",
    "iptables",
    "jq",
    "kmod",
    "nftables",
    "procps",
    "runc",
    "socat",
    "systemd",
)
CNI_PLUGINS = ("host-local", "loopback", "portmap", "ptp")
PROGRAMS = {
    "usr/bin": ("kubeadm", "kubectl", "kubelet"),
    "usr/local/bin": ("containerd", "containerd-shim-runc-v2", "ctr"),
}
SERVERS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd")

# Not the subnet of which Kubernetes gives each node a part, because kwok takes its pods' addresses from
# there.
POD_SUBNET = "10.245.0.0/16"
IMPORT = (
    "/bin/sh -c 'for archive in /kind/images/*.tar; do"
    " /usr/local/bin/ctr --namespace=k8s.io images import $archive; done'"
)
# Only a process with CAP_SYS_RESOURCE may ask for these; nothing here needs them.
PRIVILEGED_SETTINGS = ("LimitNPROC=", "LimitCORE=", "LimitNOFILE=", "OOMScoreAdjust=")


def make() -> Path:
    """Return the image's archive; build it if its input changed."""
    if is_current():
        return ARCHIVE
    provision.provide((KUBERNETES, HELM, KIND, CONTAINERD))
    base = debian.base_system(SUITE, PACKAGES)
    STAMP.unlink(missing_ok=True)
    node = debian.emptied(FOLDER / "node")
    with timed("building the node image"):
        output(["tar", "-xf", base, "-C", node])
        _add_files_of_kind(node)
        _set_up_systemd(node)
        _set_up_containerd(node)
        _add_programs(node)
        _add_network(node)
        _add_kind_facts(node)
        _add_images(node)
        watched("tar", ["tar", "--numeric-owner", "-C", node, "-cf", ARCHIVE, "."])
        shutil.rmtree(node)
    STAMP.write_text(_digest(), encoding="utf-8")
    return ARCHIVE


def is_current() -> bool:
    """Say whether the archive exists and its input is unchanged."""
    return ARCHIVE.exists() and STAMP.exists() and STAMP.read_text(encoding="utf-8") == _digest()


def _add_files_of_kind(node: Path) -> None:
    files = build.module_folder(KIND, "sigs.k8s.io/kind") / "images" / "base" / "files"
    for source in sorted(files.rglob("*")):
        target = node / source.relative_to(files)
        if source.is_dir():
            target.mkdir(exist_ok=True, mode=0o755)
        else:
            target.unlink(missing_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o755 if target.parent.name == "bin" else 0o644)


def _set_up_systemd(node: Path) -> None:
    """Enable only the services that a node needs."""
    system = node / "lib" / "systemd" / "system"
    unneeded = [*system.glob("multi-user.target.wants/*"), *system.glob("local-fs.target.wants/*")]
    unneeded += [*system.glob("basic.target.wants/*"), *system.glob("sockets.target.wants/*udev*")]
    unneeded += [*system.glob("sockets.target.wants/*initctl*")]
    unneeded += [*system.glob("sysinit.target.wants/systemd-tmpfiles-setup.service")]
    unneeded += [*(node / "etc/systemd/system").glob("*.wants/*")]
    for link in unneeded:
        link.unlink()
    (node / "usr/sbin/init").symlink_to("/usr/lib/systemd/systemd")
    (node / "etc/systemd/system/systemd-binfmt.service").symlink_to("/dev/null")
    enabled = node / "etc/systemd/system/multi-user.target.wants"
    enabled.mkdir(parents=True, exist_ok=True)
    for name in ("containerd", "kubelet", "undo-mount-hacks"):
        (enabled / f"{name}.service").symlink_to(f"/etc/systemd/system/{name}.service")
    with (node / "etc/systemd/journald.conf").open("a", encoding="utf-8") as file:
        file.write("ReadKMsg=no\n")
    (node / "etc/kubernetes/manifests").mkdir(parents=True, exist_ok=True)


def _set_up_containerd(node: Path) -> None:
    """Import the images at the start, and don't ask for what the machine may withhold."""
    unit = node / "etc/systemd/system/containerd.service"
    lines = []
    for line in unit.read_text(encoding="utf-8").splitlines():
        if not line.startswith(PRIVILEGED_SETTINGS):
            lines.append(line)
        if line.startswith("ExecStart="):
            lines.append(f"ExecStartPost={IMPORT}")
    unit.write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = node / "etc/containerd/config.toml"
    text = config.read_text(encoding="utf-8")
    text = text.replace("restrict_oom_score_adj = false", "restrict_oom_score_adj = true")
    config.write_text(text, encoding="utf-8")
    specification = json.loads(output([paths.BIN / "ctr", "oci", "spec"]))
    hook = {"path": "/kind/bin/mount-product-files.sh"}
    specification.setdefault("hooks", {}).setdefault("createContainer", []).append(hook)
    specification["process"].pop("rlimits", None)
    (node / "etc/containerd/cri-base.json").write_text(json.dumps(specification), encoding="utf-8")


def _add_programs(node: Path) -> None:
    for folder, names in PROGRAMS.items():
        for name in names:
            shutil.copy(paths.BIN / name, node / folder / name)


def _add_network(node: Path) -> None:
    """Give pods addresses of one network without a bridge: there is only one node."""
    plugins = node / "opt/cni/bin"
    plugins.mkdir(parents=True)
    for name in CNI_PLUGINS:
        shutil.copy(node / "usr/lib/cni" / name, plugins / name)
    ipam = {"type": "host-local", "ranges": [[{"subnet": POD_SUBNET}]], "routes": [{"dst": "0.0.0.0/0"}]}
    ptp = {"type": "ptp", "ipMasq": True, "ipam": ipam}
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}}
    network = {"cniVersion": "0.4.0", "name": "pods", "plugins": [ptp, portmap]}
    folder = node / "etc/cni/net.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "10-pods.conflist").write_text(json.dumps(network, indent=1), encoding="utf-8")


def _add_kind_facts(node: Path) -> None:
    """Write the metadata that kind reads from a node image."""
    (node / "kind/version").write_text(KUBERNETES.version("k8s.io/kubernetes"), encoding="utf-8")
    manifests = node / "kind/manifests"
    manifests.mkdir()
    shutil.copyfile(paths.KWOK_FILES / "storage-class.yaml", manifests / "default-storage.yaml")
    empty = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "no-cni", "namespace": "kube-system"},
    }
    (manifests / "default-cni.yaml").write_text(yaml.safe_dump(empty), encoding="utf-8")


def _add_images(node: Path) -> None:
    folder = node / "kind/images"
    folder.mkdir()
    busybox = {"bin/busybox": node / "bin/busybox"}
    for name in _kubernetes_images():
        program = name.rpartition("/")[2].partition(":")[0]
        if program in SERVERS:
            files = {f"usr/local/bin/{program}": paths.BIN / program}
            ociarchive.write(folder / f"{program}.tar", [name], files, [f"/usr/local/bin/{program}"])
        elif program == "pause":
            pause = [name, _sandbox_image(node)]
            ociarchive.write(
                folder / "pause.tar", pause, busybox, ["/bin/busybox", "tail", "-f", "/dev/null"]
            )
    applets = output([node / "bin/busybox", "--list"]).split()
    links = {f"bin/{applet}": "busybox" for applet in applets if applet != "busybox"}
    ociarchive.write(folder / "busybox.tar", [BUSYBOX_NAME], busybox, [], links)


def _kubernetes_images() -> list[str]:
    version = KUBERNETES.version("k8s.io/kubernetes")
    return output(
        [paths.BIN / "kubeadm", "config", "images", "list", "--kubernetes-version", version]
    ).split()


def _sandbox_image(node: Path) -> str:
    for line in (node / "etc/containerd/config.toml").read_text(encoding="utf-8").splitlines():
        key, _separator, value = line.partition("=")
        if key.strip() == "sandbox_image":
            return value.strip().strip('"')
    raise ClusterError(
        "kind's configuration of containerd names no sandbox_image any more: adapt nodeimage.py."
    )


def _digest() -> str:
    modules: Iterable[Path] = [module.folder / "go.sum" for module in (KUBERNETES, KIND, CONTAINERD)]
    sources = [Path(__file__), Path(ociarchive.__file__)]
    return build.digest([*modules, *sources], KUBERNETES.linker_flags())
