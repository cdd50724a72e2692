# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Base systems of Debian, of which images are made on machines that can't pull any."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import build, packages, paths
from .command import watched
from .console import timed
from .errors import ClusterError

FOLDER = paths.BUILD / "kind"


def base_system(suite: str, package_names: Sequence[str]) -> Path:
    """Return an archive of Debian's smallest system with these packages; it is made once for all checkouts.

    Args:
        suite: the release of Debian, such as `bookworm`.
        package_names: of Debian.

    Raises:
        ClusterError: only root can make one.
    """
    archive = paths.CACHE / f"debian-{build.digest((), ' '.join([suite, *package_names]))[:12]}.tar"
    if archive.exists():
        return archive
    if os.geteuid() != 0:
        raise ClusterError("Images can't be pulled here, and only root can build a base system for them.")
    packages.need("debootstrap")
    root = emptied(FOLDER / "debian")
    command = [packages.find("debootstrap") or "debootstrap", "--variant=minbase"]
    with timed(f"getting a base system, Debian {suite}"):
        watched(
            "debootstrap",
            [*command, f"--include={','.join(package_names)}", suite, root],
            env={"PATH": packages.SEARCH_PATH},
        )
        for folder in ("var/cache/apt", "var/lib/apt/lists", "var/log", "usr/share/doc", "usr/share/man"):
            emptied(root / folder)
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
            draft = Path(folder) / archive.name
            watched("tar", ["tar", "--numeric-owner", "-C", root, "-cf", draft, "."])
            draft.replace(archive)
        shutil.rmtree(root)
    return archive


def emptied(folder: Path) -> Path:
    """Return a folder that exists and is empty."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder
