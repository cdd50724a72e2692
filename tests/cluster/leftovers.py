# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The remains of a killed engine: shims, containers and mounts, identified by their path."""

from __future__ import annotations

import ipaddress
import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import packages
from .command import output
from .procfs import is_running

PROGRAMS = ("dockerd", "containerd", "containerd-shim-runc-v2")


def remove(run: Path, folder: Path, network: str) -> None:
    """End all that an engine with this folder of sockets started; remove its mounts and its network."""
    for _i in range(50):
        pids = [*_containers(run), *_processes(str(run))]
        if not pids:
            break
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    for mount in mounts_below(folder, Path("/proc/self/mounts")):
        output(["umount", "--lazy", mount])
    for bridge in _bridges(network):
        output([packages.find("ip") or "ip", "link", "delete", bridge])


def mounts_below(folder: Path, table: Path) -> list[str]:
    """Return the mount points below a folder, the innermost first."""
    if not table.exists():
        return []
    lines = table.read_text(encoding="utf-8", errors="replace").splitlines()
    points = [line.split()[1].replace("\\040", " ") for line in lines]
    return sorted((point for point in points if Path(point).is_relative_to(folder)), key=len, reverse=True)


def _bridges(network: str) -> list[str]:
    """Return the bridges that have an address of this network."""
    ip = packages.find("ip")
    if ip is None:
        return []
    interfaces = json.loads(output([ip, "-json", "address", "show", "type", "bridge"]) or "[]")
    return bridges_of(network, interfaces)


def bridges_of(network: str, interfaces: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return those with an address of this network from the output of `ip -json address`."""
    whole = ipaddress.ip_network(network)
    return [
        interface["ifname"]
        for interface in interfaces
        if any(ipaddress.ip_address(info["local"]) in whole for info in interface.get("addr_info", ()))
    ]


def _containers(run: Path) -> list[int]:
    """Return the first process of every container: its end ends the whole container."""
    files = run.glob("containerd/daemon/io.containerd.runtime.v2.task/*/*/init.pid")
    pids = [int(file.read_text(encoding="utf-8")) for file in files]
    return [pid for pid in pids if is_running(pid)]


def _processes(text: str) -> list[int]:
    """Return the programs of an engine that have this path in their command line."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            program, _nul, arguments = (
                (entry / "cmdline").read_bytes().decode(errors="replace").partition("\0")
            )
            if f"{text}/" in arguments and program.rpartition("/")[2] in PROGRAMS:
                pids.append(int(entry.name))
    return pids
