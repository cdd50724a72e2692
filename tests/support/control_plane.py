# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Control planes that tests start for themselves, in parallel with others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.paths import BIN, ROOT

from .needs import skip

SECONDS = 300.0
"""That starting or stopping may take."""


@contextmanager
def control_plane(state: Path) -> Iterator[Path]:
    """Start a control plane of plain processes, yield its kubeconfig, and stop it.

    Args:
        state: an empty folder for its data, logs, audit log and kubeconfig.
    """
    start(state)
    try:
        yield state / "kubeconfig"
    finally:
        stop(state)


def start(state: Path) -> None:
    """Start a control plane whose data is in this folder."""
    if not (BIN / "kube-apiserver").exists():
        skip("The programs of a control plane are missing. Build them: make build")
    _run(state, "up")


def stop(state: Path) -> None:
    """Stop the control plane of this folder."""
    _run(state, "down")


def _run(state: Path, verb: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster", verb, "--provider", "processes"],
        cwd=ROOT,
        env={**os.environ, "KYMA_CLUSTER_DIR": str(state)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
