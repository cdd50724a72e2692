"""What an engine that was killed leaves behind: shims, containers and mounts, known by their path."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from .command import output


def remove(run: Path, folder: Path) -> None:
    """End all that an engine with this folder of sockets started, and unmount all below the other."""
    for _ in range(50):
        pids = [*_containers(run), *_processes(str(run))]
        if not pids:
            break
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    for mount in mounts_below(folder, Path("/proc/self/mounts")):
        output(["umount", "--lazy", mount])


def mounts_below(folder: Path, table: Path) -> list[str]:
    """Return where something is mounted below a folder, the innermost first."""
    if not table.exists():
        return []
    lines = table.read_text(encoding="utf-8", errors="replace").splitlines()
    points = [line.split()[1].replace("\\040", " ") for line in lines]
    return sorted((point for point in points if Path(point).is_relative_to(folder)), key=len, reverse=True)


def _containers(run: Path) -> list[int]:
    """Return the first process of every container: its end is the end of all in there."""
    files = run.glob("containerd/daemon/io.containerd.runtime.v2.task/*/*/init.pid")
    pids = [int(file.read_text(encoding="utf-8")) for file in files]
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and _state(pid) != "Z"]


def _processes(text: str) -> list[int]:
    """Return the processes that have this path in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
            if f"{text}/" in command and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


def _state(pid: int) -> str:
    with suppress(OSError):
        return (
            Path(f"/proc/{pid}/stat")
            .read_text(encoding="utf-8", errors="replace")
            .rpartition(")")[2]
            .split()[0]
        )
    return "Z"
