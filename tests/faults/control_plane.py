# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restarting one program of a cluster of plain processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.cluster import daemon
from tests.cluster.state import State


def restart(state_folder: Path, name: str) -> None:
    """Kill a program as a crash would, and start it again with the same words."""
    state = State.read(state_folder / "processes" / "state.json")
    position, old = next((i, one) for i, one in enumerate(state.daemons) if one.name == name)
    words = Path(f"/proc/{old.pid}/cmdline").read_text().split("\0")[:-1]
    os.kill(old.pid, signal.SIGKILL)
    daemon.stop(old)
    state.daemons[position] = daemon.start(name, words, state_folder / "log" / f"{name}-again.log")
    state.write()
