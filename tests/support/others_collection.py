# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another author's collection next to ours, and its tests as the author runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.paths import ROOT

EXAMPLE = ROOT / "examples" / "collection" / "acme" / "platform"


def collections_path(folder: Path, *, example: bool = True) -> Path:
    """Turn a folder into a collections path with our collection and ``acme.platform``; the latter's path."""
    ours = folder / "ansible_collections" / "kyma" / "lifecycle"
    theirs = folder / "ansible_collections" / "acme" / "platform"
    ours.parent.mkdir(parents=True)
    ours.symlink_to(ROOT, target_is_directory=True)
    if example:
        shutil.copytree(EXAMPLE, theirs, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    else:
        theirs.mkdir(parents=True)
    return theirs


def pytest_in(
    collection: Path, *arguments: str, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The output of ``pytest`` in a collection's folder."""
    left_out = ("PYTHONPATH", "KYMA_TEST_KUBECONFIG", "PYTEST_ADDOPTS")
    environment = {key: value for key, value in os.environ.items() if key not in left_out}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", *arguments],
        cwd=collection,
        env={**environment, **(variables or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
