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

import pytest

from tests.cluster.paths import BIN, ROOT

from .needs import skip

SECONDS = 900.0
"""That starting or stopping may take; a server that logs nothing for a minute ends it sooner."""


ONE_THREAD = {"GOMAXPROCS": "1"}
"""For its programs: several control planes share two cores, and more threads only cost CPU seconds."""

NOT_STARTED = "The control plane did not start"
"""How such an error begins. It is the fault of the machine, so it ends the session."""


def pytest_exception_interact(node: pytest.Item, call: pytest.CallInfo[object]) -> None:
    """End the session if a control plane did not start: each further test would report the same."""
    if call.excinfo and str(call.excinfo.value).startswith(NOT_STARTED):
        node.session.shouldfail = f"stopped at {node.nodeid}, because its control plane did not start"


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
    try:
        code, printed = _run(state, "up")
    except subprocess.TimeoutExpired:
        stop(state)
        code, printed = 1, f"It was ended after {SECONDS:.0f} s."
    if code:
        pytest.fail(f"{NOT_STARTED}.\n{printed}", pytrace=False)


def stop(state: Path) -> None:
    """Stop the control plane of this folder."""
    code, printed = _run(state, "down")
    assert code == 0, printed


def _run(state: Path, verb: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster", verb, "--provider", "processes"],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD, "KYMA_CLUSTER_DIR": str(state)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
