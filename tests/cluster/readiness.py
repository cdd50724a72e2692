# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until a server is ready, or reports why it never will be."""

from __future__ import annotations

import ssl
import time
import urllib.request
from pathlib import Path

from .daemon import Daemon, tail
from .errors import ClusterError


def wait(
    daemon: Daemon, url: str, log: Path, certificate_authority: Path | None = None, seconds: float = 60.0
) -> None:
    """Ask the address until it answers with 200."""
    deadline = time.monotonic() + seconds
    while not answers(url, certificate_authority):
        if not daemon.alive():
            raise ClusterError(f"{daemon.name} ended while it started; the end of {log}:\n{tail(log)}")
        if time.monotonic() > deadline:
            raise ClusterError(
                f"{daemon.name} wasn't ready after {seconds:.0f} s; the end of {log}:\n{tail(log)}"
            )
        time.sleep(0.1)


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
