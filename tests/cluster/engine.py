# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container engine: one that already answers, or our own dockerd."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import daemon, packages, paths
from .command import output, watched
from .console import timed
from .errors import ClusterError
from .state import State

RUN = paths.KIND / "run"
SOCKET = RUN / "docker.sock"
DATA = paths.KIND / "docker"
LOG = paths.LOGS / "dockerd.log"

# A socket's path has room for 108 bytes; the longest one of dockerd below RUN needs this many.
LONGEST_NAME_BELOW_RUN = 45
SYS_ADMIN = 1 << 21
SYS_RESOURCE = 1 << 24


@dataclass(frozen=True)
class Engine:
    """The address of an engine."""

    ours: bool
    environment: dict[str, str] = field(default_factory=dict)
    program: str = "docker"

    def docker(self, *arguments: str | Path) -> str:
        """Run the engine's command line: docker's, or podman's, which is the same."""
        return output([self._program, *arguments], env=self.environment)

    def docker_patiently(self, *arguments: str) -> None:
        """Run a docker command that may take minutes."""
        watched(f"{self.program} {arguments[0]}", [self._program, *arguments], env=self.environment)

    def has(self, image: str) -> bool:
        """Say whether an image is there already."""
        return _succeeds([self._program, "image", "inspect", image], self.environment)

    def has_or_can_get(self, image: str) -> bool:
        """Say whether an image exists or its registry answers."""
        return self.has(image) or _succeeds([self._program, "manifest", "inspect", image], self.environment)

    @property
    def _program(self) -> str | Path:
        return packages.find(self.program) or self.program


PODMAN = Engine(ours=False, environment={"KIND_EXPERIMENTAL_PROVIDER": "podman"}, program="podman")


def running() -> Engine | None:
    """Return the engine that answers: our own, or the user's docker."""
    candidates = (
        [Engine(ours=True, environment={"DOCKER_HOST": f"unix://{SOCKET}"})] if SOCKET.exists() else []
    )
    candidates.append(Engine(ours=False))
    return next((each for each in candidates if _answers(each)), None)


def with_image(image: str) -> tuple[Engine | None, str]:
    """Return the user's engine that answers and has an image, or why there is none."""
    answering = [each for each in (Engine(ours=False), PODMAN) if _answers(each)]
    having = next((each for each in answering if each.has(image)), None)
    if having or answering:
        return having, "" if having else f"{answering[0].program} doesn't have the image {image}"
    return None, "no container engine answers"


def start(state: State) -> Engine:
    """Start our own dockerd."""
    if len(str(RUN)) + LONGEST_NAME_BELOW_RUN > 107:
        raise ClusterError(
            f"{RUN} is too long a path for the engine's sockets: use a checkout with a shorter path."
        )
    packages.need("dockerd", "docker", "iptables")
    RUN.mkdir(parents=True, exist_ok=True)
    engine = Engine(ours=True, environment={"DOCKER_HOST": f"unix://{SOCKET}"})
    with timed("starting a container engine"):
        started = daemon.start("dockerd", _command(), LOG, env={"PATH": packages.SEARCH_PATH})
        state.add(started)
        deadline = time.monotonic() + 60
        while not _answers(engine):
            if not started.alive() or time.monotonic() > deadline:
                raise ClusterError(
                    f"The container engine doesn't start; the end of {LOG}:\n{daemon.tail(LOG)}"
                )
            time.sleep(0.2)
    return engine


def _command() -> list[str | Path]:
    command: list[str | Path] = [
        packages.find("dockerd") or "dockerd",
        f"--host=unix://{SOCKET}",
        f"--data-root={DATA}",
        f"--exec-root={RUN}",
        f"--pidfile={RUN / 'dockerd.pid'}",
        "--bridge=none",
        f"--default-address-pool=base={network()},size=24",
    ]
    if not _has(SYS_RESOURCE):
        command += [f"--add-runtime=limited={_limited_runtime()}", "--default-runtime=limited"]
    return command


def network() -> str:
    """Return this checkout's own network: the engines don't know each other."""
    number = hashlib.sha256(str(paths.ROOT).encode()).digest()[0] % 100
    return f"10.{100 + number}.0.0/16"


def _has(capability: int) -> bool:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(mask, 16) & capability)


def _limited_runtime() -> Path:
    """Write a program that dockerd can start as its runtime."""
    script = RUN / "runc-limited"
    runc = packages.find("runc")
    script.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -I -S "{paths.HERE / "limitedruntime.py"}" "{runc}" "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return script


def _answers(engine: Engine) -> bool:
    program = packages.find(engine.program)
    return program is not None and _succeeds([program, "version"], engine.environment)


def _succeeds(command: Sequence[str | Path], environment: Mapping[str, str]) -> bool:
    """Run a command that answers within seconds, or not at all."""
    try:
        done = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, check=False, timeout=20
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def why_not_start() -> str:
    """Return why no engine can start here, in a sentence, or nothing if one can."""
    if not sys.platform.startswith("linux"):
        return "kind needs a container engine: start Docker."
    if os.geteuid() != 0:
        return "kind needs a container engine: none answers, and only root can start one."
    if not _has(SYS_ADMIN):
        return "kind needs a container engine: none answers, and even root may not start one on this machine."
    missing = [name for name in ("dockerd", "docker", "iptables") if packages.find(name) is None]
    if missing and shutil.which("apt-get") is None:
        return (
            f"kind needs a container engine: none answers, and there is no {missing[0]} here: install Docker."
        )
    return ""
