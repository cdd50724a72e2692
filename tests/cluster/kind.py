# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kind: a Kubernetes whose node is a container, for all tests that need real containers.

kwok plays extra nodes, and ordinary pods run there: the real node has a taint.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import yaml

from . import (
    certificates,
    daemon,
    engine,
    kindconfig,
    kwok,
    leftovers,
    nodeimage,
    paths,
    permission,
    ports,
    provision,
    readiness,
)
from .command import output, watched
from .console import say, timed
from .engine import Engine
from .errors import ClusterError
from .programs import KIND, KUBERNETES
from .state import State

STATE_FILE = paths.KIND / "state.json"
LOG = paths.LOGS / "kind.log"
NAME = "kyma-" + hashlib.sha256(str(paths.ROOT).encode()).hexdigest()[:6]
NODE = f"{NAME}-control-plane"
IMAGE = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"
"""The node image of the pinned kind; a test compares it with the program."""
TAINT = "node-role.kubernetes.io/control-plane=:NoExecute"


def up() -> None:
    """Start the cluster, or reuse the one that runs."""
    reason = why_not()
    if reason:
        raise ClusterError(reason)
    provision.provide()
    _up()


def up_at_hand() -> None:
    """Start or reuse a cluster on the user's engine, which has the node image: nothing is pulled."""
    running, reason = engine.with_image(IMAGE)
    if running is None:
        raise ClusterError(reason)
    provision.provide((KUBERNETES,), only=("kubectl", "kwok"))
    provision.provide((KIND,))
    _up(running)
    certificates.write_private(paths.KUBECONFIG, paths.KIND_KUBECONFIG.read_text(encoding="utf-8"))


def why_not_at_hand() -> str:
    """Return why no cluster can start without a download of its node image; empty if one can."""
    return engine.with_image(IMAGE)[1]


def _up(at_hand: Engine | None = None) -> None:
    if is_up():
        say(f"the kind cluster runs already: KUBECONFIG={paths.KIND_KUBECONFIG}")
        return
    down()
    try:
        _start(State(STATE_FILE), at_hand)
    except BaseException:
        down()
        raise
    say(f"the kind cluster is ready: KUBECONFIG={paths.KIND_KUBECONFIG}")


def down() -> None:
    """End the cluster, and the engine if it is ours."""
    if not paths.KIND.exists():
        return
    state = State.read(STATE_FILE)
    kwoks = [item for item in state.daemons if item.name == "kwok"]
    daemon.stop_all(kwoks)
    running = engine.PODMAN if state.facts.get("engine") == "podman" else engine.running()
    if running and running.ours:
        containers = running.docker("ps", "--all", "--quiet").split()
        if containers:
            running.docker("rm", "--force", "--volumes", *containers)
        running.docker("network", "prune", "--force")
    elif running:
        provision.provide((KIND,))
        _kind(running, "delete", "cluster", "--name", NAME)
    daemon.stop_all([item for item in state.daemons if item not in kwoks])
    leftovers.remove(engine.RUN, paths.KIND, engine.network())
    shutil.rmtree(paths.KIND)


def status() -> str:
    """Print in a line what runs."""
    if not paths.KIND_KUBECONFIG.exists():
        return "kind: not started"
    if is_up():
        return f"kind: ready, KUBECONFIG={paths.KIND_KUBECONFIG}"
    return f"kind: doesn't answer; `up --provider kind` starts a new one, the logs are in {paths.LOGS}"


def is_up() -> bool:
    """Say whether the cluster runs and answers."""
    return paths.KIND_KUBECONFIG.exists() and State.read(STATE_FILE).all_alive() and _ready()


def why_not() -> str:
    """Return why kind can't run here, in a sentence, or nothing if it can."""
    running = engine.running()
    if running is None:
        return engine.why_not_start()
    if running.ours or os.geteuid() == 0 or nodeimage.is_current() or running.has_or_can_get(IMAGE):
        return ""
    return "kind's node image can't be pulled here, and only root can build one."


def _start(state: State, at_hand: Engine | None) -> None:
    permission.check()
    paths.KIND.mkdir(parents=True, exist_ok=True, mode=0o700)
    running = at_hand or engine.running() or engine.start(state)
    state.facts = {"own_engine": running.ours, "engine": running.program}
    state.write()
    image = IMAGE if at_hand else _image(running)
    config = paths.KIND / "kind.yaml"
    config.write_text(yaml.safe_dump(kindconfig.cluster(image == nodeimage.NAME)), encoding="utf-8")
    kubeconfig = paths.KIND_KUBECONFIG
    with timed("creating the kind cluster"):
        create = ["create", "cluster", "--retain", "--name", NAME, "--image", image, "--config", str(config)]
        try:
            _kind(running, *create, "--kubeconfig", str(kubeconfig), "--wait", "180s", log=LOG)
        except ClusterError:
            _kind(running, "export", "logs", "--name", NAME, str(paths.LOGS / "kind"))
            raise
    if image == nodeimage.NAME:
        _lead_to_apiserver(running)
    elif not at_hand:
        _load_busybox(running)
    with timed("adding kwok's nodes"):
        output(
            [paths.BIN / "kubectl", f"--kubeconfig={kubeconfig}", "taint", "--overwrite", "node", NODE, TAINT]
        )
        own = _kubeconfig_of_kwok(running)
        log = paths.LOGS / "kwok-of-kind.log"
        nodes = daemon.start("kwok", kwok.command(own, ports.free(1)[0]), log)
        state.add(nodes)
        kwok.add_nodes(own)
        readiness.wait(nodes, log, lambda: kwok.are_nodes_ready(own))


def _image(running: Engine) -> str:
    """Return the node image to use: kind's, if it can be pulled, else our own."""
    if not nodeimage.is_current():
        try:
            running.docker_patiently("pull", "--quiet", IMAGE)
        except ClusterError:
            say("kind's node image can't be pulled here: using one of our own")
        else:
            return IMAGE
    archive = nodeimage.make()
    with timed("importing the node image"):
        entrypoint = 'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]'
        changes = [f"--change={each}" for each in (entrypoint, "ENV container=docker")]
        running.docker("import", *changes, archive, nodeimage.NAME)
    return nodeimage.NAME


def load(running: Engine, image: str) -> None:
    """Give the node an image that the engine has."""
    _kind(running, "load", "docker-image", image, "--name", NAME)


def _load_busybox(running: Engine) -> None:
    running.docker_patiently("pull", "--quiet", "busybox:stable-musl")
    running.docker("tag", "busybox:stable-musl", nodeimage.BUSYBOX_NAME)
    load(running, nodeimage.BUSYBOX_NAME)


def _lead_to_apiserver(running: Engine) -> None:
    """Let real containers reach the API by its Service, as no kube-proxy does that here."""
    kubectl: list[str | Path] = [paths.BIN / "kubectl", f"--kubeconfig={paths.KIND_KUBECONFIG}"]
    service = output([*kubectl, "get", "service", "kubernetes", "--output=jsonpath={.spec.clusterIP}"])
    node = output([*kubectl, "get", "node", NODE, "--output=jsonpath={.status.addresses[0].address}"])
    for chain in ("PREROUTING", "OUTPUT"):
        rule = ["--append", chain, "--destination", service, "--protocol", "tcp", "--dport", "443"]
        target = ["--jump", "DNAT", "--to-destination", f"{node}:6443"]
        running.docker("exec", NODE, "iptables", "--table", "nat", *rule, *target)


def _kubeconfig_of_kwok(running: Engine) -> Path:
    """Give kwok its own user name, so that the audit log can leave it out."""
    kubeadm = ["kubeadm", "kubeconfig", "user", "--client-name=kwok", "--org=system:masters"]
    made = yaml.safe_load(running.docker("exec", NODE, *kubeadm, "--config=/kind/kubeadm.conf"))
    admin = yaml.safe_load(paths.KIND_KUBECONFIG.read_text(encoding="utf-8"))
    made["clusters"][0]["cluster"]["server"] = admin["clusters"][0]["cluster"]["server"]
    target = paths.KIND / "kwok.kubeconfig"
    certificates.write_private(target, yaml.safe_dump(made))
    return target


def _ready() -> bool:
    try:
        ask: list[str | Path] = [
            paths.BIN / "kubectl",
            f"--kubeconfig={paths.KIND_KUBECONFIG}",
            "--request-timeout=5s",
        ]
        return output([*ask, "get", "--raw=/readyz"]).strip() == "ok"
    except ClusterError:
        return False


def _kind(running: Engine, *arguments: str, log: Path | None = None) -> None:
    watched("kind", [paths.BIN / "kind", *arguments], env=running.environment, log=log)
