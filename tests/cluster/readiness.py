# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until a server is ready, or reports why it never will be."""

from __future__ import annotations

import ssl
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from .daemon import Daemon, tail
from .errors import ClusterError

SILENT_SECONDS = 60.0
"""A busy machine is slow, but its servers go on with their logs."""


def wait(daemon: Daemon, log: Path, is_ready: Callable[[], bool]) -> None:
    """Ask until the answer is yes. Give up when the server has ended, or has logged nothing for a minute."""
    size, since = _size(log), time.monotonic()
    while not is_ready():
        if not daemon.alive():
            raise ClusterError(f"{daemon.name} ended while it started; the end of {log}:\n{tail(log)}")
        if _size(log) != size:
            size, since = _size(log), time.monotonic()
        elif time.monotonic() - since > SILENT_SECONDS:
            raise ClusterError(
                f"{daemon.name} isn't ready and has logged nothing for {SILENT_SECONDS:.0f} s; "
                f"the end of {log}:\n{tail(log)}"
            )
        time.sleep(0.1)


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def answers(url: str, certificate_authority: Path | None = None) -> bool:
    """Say whether the address answers with 200."""
    if certificate_authority is None:
        # Some servers sign their certificate themselves, in memory; we only need their answer.
        context = ssl._create_unverified_context()
    elif certificate_authority.exists():
        context = ssl.create_default_context(cafile=str(certificate_authority))
    else:
        return False
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    try:
        with opener.open(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False
