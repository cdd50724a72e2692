# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of the operating system, and the Debian packages that have them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from . import paths
from .command import watched
from .console import timed
from .errors import ClusterError

# The folders of root's programs are not on everybody's PATH. Our own programs may be on it, and a container
# engine must use its own containerd, not that of the node image.
SEARCH_PATH = os.pathsep.join(
    [
        *(entry for entry in os.environ.get("PATH", "").split(os.pathsep) if Path(entry) != paths.BIN),
        *("/usr/local/sbin", "/usr/sbin", "/sbin"),
    ]
)

PACKAGES = {
    "chromium-headless-shell": ("chromium-headless-shell", "fonts-liberation"),
    "debootstrap": ("debootstrap", "debian-archive-keyring"),
    "docker": ("docker.io", "docker-cli"),
    "dockerd": ("docker.io",),
    "iptables": ("iptables",),
    "pdftoppm": ("poppler-utils",),
    "pdftotext": ("poppler-utils",),
    "promtool": ("prometheus",),
}


def find(program: str) -> Path | None:
    """Return the path of a program, if it is installed."""
    path = shutil.which(program, path=SEARCH_PATH)
    return Path(path) if path else None


def need(*programs: str) -> None:
    """Install missing programs, or report what the user must install."""
    missing = [program for program in programs if find(program) is None]
    if not missing:
        return
    packages = sorted({package for program in missing for package in PACKAGES[program]})
    if os.geteuid() != 0 or find("apt-get") is None:
        raise ClusterError(
            f"{' and '.join(missing)} missing: install it ({', '.join(packages)} on Debian) and try again."
        )
    environment = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    with timed(f"installing {', '.join(packages)}"):
        watched("apt-get update", ["apt-get", "update"], env=environment)
        available = [package for package in packages if _is_known(package)]
        install = ["apt-get", "install", "--yes", "--no-install-recommends", *available]
        watched("apt-get install", install, env=environment)
    still = [program for program in missing if find(program) is None]
    if still:
        raise ClusterError(
            f"Installing {', '.join(available)} didn't bring {still[0]}: install it and try again."
        )


def _is_known(package: str) -> bool:
    try:
        watched("apt-cache", ["apt-cache", "show", package])
    except ClusterError:
        return False
    return True
