# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that this machine has already, in KUBEBUILDER_ASSETS or on the PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from . import paths

SECONDS = 20.0
"""That a program may take to say its version."""
_ASK = {
    "helm": ("version", "--short"),
    "kind": ("version",),
    "kubeadm": ("version", "--output=short"),
    "kubectl": ("version", "--client"),
}
"""How to ask for a version, where it isn't `--version`."""


def find(program: str, pinned: str) -> Path | None:
    """Return the first program of this name that has the pinned major and minor version."""
    for folder in _folders():
        candidate = shutil.which(program, path=folder)
        if candidate and is_near(version_of(Path(candidate)), pinned):
            return Path(candidate)
    return None


def version_of(program: Path) -> str:
    """Return the version that a program says, e.g. `1.36.3`; nothing if it can't be run."""
    try:
        done = subprocess.run(
            [program, *_ask(program.name)], capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"\bv?(\d+\.\d+\.\d+)", done.stdout)
    return match[1] if match and done.returncode == 0 else ""


def is_near(version: str, pinned: str) -> bool:
    """Say whether two versions differ at most in their patch."""
    return bool(version) and version.split(".")[:2] == pinned.removeprefix("v").split(".")[:2]


def _ask(name: str) -> tuple[str, ...]:
    return _ASK.get(name, ("--version",))


def _folders() -> list[str]:
    """Return where to look: not among our own programs, which may be on the PATH."""
    named = [os.environ.get("KUBEBUILDER_ASSETS", ""), *os.environ.get("PATH", "").split(os.pathsep)]
    return [folder for folder in named if folder and Path(folder).resolve() != paths.BIN.resolve()]
