# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real control plane of plain processes, with nodes that kwok plays. It needs no root."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from functools import partial
from pathlib import Path

from . import controlplane, daemon, kwok, paths, permission, ports, provision, readiness
from .certificates import ADMINISTRATORS, Certificates, write_private
from .console import say, timed
from .controlplane import ControlPlane, Ports
from .errors import ClusterError
from .programs import CONTROL_PLANE
from .state import State

STATE_FILE = paths.PROCESSES / "state.json"


def up() -> None:
    """Start the cluster, or reuse the one that runs; it needs no kubelet, no kubeadm and no helm."""
    provision.provide(only=CONTROL_PLANE)
    state = State.read(STATE_FILE)
    if state.all_alive() and _ready(state):
        if not _is_ours(paths.KUBECONFIG):
            _write_kubeconfig()
        say(f"the cluster runs already: KUBECONFIG={paths.KUBECONFIG}")
        return
    if state.daemons:
        say("a part of the cluster has ended: starting a new one, without what was in the old one")
    _end(state)
    with timed("starting a Kubernetes of plain processes"):
        _start()
    say(f"the cluster is ready: KUBECONFIG={paths.KUBECONFIG}")


def down() -> None:
    """End the processes and delete their data; logs stay."""
    _end(State.read(STATE_FILE))


def status() -> str:
    """Print in a line what runs."""
    state = State.read(STATE_FILE)
    if not state.daemons:
        return "processes: not started"
    ended = [item.name for item in state.daemons if not item.alive()]
    if ended:
        return f"processes: {', '.join(ended)} ended; `up` starts a new cluster, the logs are in {paths.LOGS}"
    if not _ready(state):
        return f"processes: running, but the API server doesn't answer; its log is {_log('kube-apiserver')}"
    return f"processes: ready, KUBECONFIG={paths.KUBECONFIG}"


def _start() -> None:
    permission.check()
    plane = ControlPlane(paths.PROCESSES, Ports(*ports.free(6)), paths.AUDIT_LOG)
    paths.PROCESSES.mkdir(parents=True, exist_ok=True, mode=0o700)
    state = State(STATE_FILE, facts={"ports": asdict(plane.ports)})
    try:
        _certificates(plane)
        _run(state, "etcd", plane.etcd())
        apiserver = _run(state, "kube-apiserver", plane.apiserver())
        url, authority = _ready_url(plane.ports.apiserver), plane.pki / "ca.crt"
        readiness.wait(apiserver, _log(apiserver.name), lambda: readiness.answers(url, authority))
        _controllers(state, plane)
    except BaseException as error:
        daemon.stop_all(state.daemons)
        if isinstance(error, ClusterError):
            raise ClusterError(f"{error}\n{_load()}") from error
        raise
    _write_kubeconfig()


def _certificates(plane: ControlPlane) -> None:
    made = Certificates(plane.pki, plane.ports.apiserver)
    made.make()
    made.kubeconfig("admin", plane.kubeconfig("admin"), ADMINISTRATORS)
    made.kubeconfig("kwok", plane.kubeconfig("kwok"), ADMINISTRATORS)
    for name in ("controller-manager", "scheduler"):
        made.kubeconfig(f"system:kube-{name}", plane.kubeconfig(name))


def _controllers(state: State, plane: ControlPlane) -> None:
    controller_manager = _run(state, "kube-controller-manager", plane.controller_manager())
    scheduler = _run(state, "kube-scheduler", plane.scheduler())
    nodes = _run(state, "kwok", kwok.command(plane.kubeconfig("kwok"), plane.ports.kwok))
    kwok.add_nodes(plane.kubeconfig("kwok"))
    for item, port in (
        (controller_manager, plane.ports.controller_manager),
        (scheduler, plane.ports.scheduler),
    ):
        url = f"https://127.0.0.1:{port}/healthz"
        readiness.wait(item, _log(item.name), partial(readiness.answers, url))
    readiness.wait(nodes, _log(nodes.name), lambda: kwok.are_nodes_ready(plane.kubeconfig("kwok")))


def _load() -> str:
    return f"The load of the last minute was {os.getloadavg()[0]:.0f}, on {os.cpu_count()} processors."


def _run(state: State, name: str, command: controlplane.Command) -> daemon.Daemon:
    started = daemon.start(name, command, _log(name), controlplane.LESS_GARBAGE_COLLECTION)
    state.add(started)
    return started


def _ready(state: State) -> bool:
    url = _ready_url(state.facts["ports"]["apiserver"])
    return readiness.answers(url, paths.PROCESSES / "pki" / "ca.crt")


def _ready_url(port: int) -> str:
    return f"https://127.0.0.1:{port}/readyz"


def _write_kubeconfig() -> None:
    admin = paths.PROCESSES / "admin.kubeconfig"
    write_private(paths.KUBECONFIG, admin.read_text(encoding="utf-8"))


def _log(name: str) -> Path:
    return paths.LOGS / f"{name}.log"


def _end(state: State) -> None:
    daemon.stop_all(state.daemons)
    if _is_ours(paths.KUBECONFIG):
        paths.KUBECONFIG.unlink()
    if paths.PROCESSES.exists():
        shutil.rmtree(paths.PROCESSES)
    paths.AUDIT_LOG.unlink(missing_ok=True)


def _is_ours(kubeconfig: Path) -> bool:
    admin = paths.PROCESSES / "admin.kubeconfig"
    return kubeconfig.exists() and admin.exists() and kubeconfig.read_bytes() == admin.read_bytes()
