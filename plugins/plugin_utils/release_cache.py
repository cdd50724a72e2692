# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendered releases, kept for one run of ansible-playbook: the plan renders, the phases after it read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release

SILENT_SECONDS = 3.0
"""How long to wait for somebody else without a word."""
LOOK_SECONDS = 0.05


class ReleaseCache:
    """Bundles in a folder that ansible-playbook removes at its end, each named by the release's fingerprint.

    The workers of several hosts share it. Of those that want the same release at the same time one renders,
    and the others wait for it.

    Args:
        folder: where the bundles are.
        say: takes a sentence for people when a wait becomes long.
    """

    def __init__(self, folder: str | Path, say: Callable[[str], None]) -> None:
        self._folder = Path(folder)
        self._say = say

    def bundle(self, fingerprint: str, render: Callable[[], Release]) -> Path:
        """The bundle of the release with this fingerprint; it can be read by its owner only.

        Args:
            fingerprint: hexadecimal digits.
            render: makes the release where no bundle is there yet. What it raises is handed on.
        """
        bundle = self._folder / f"kyma-release-{fingerprint}.bundle"
        if bundle.exists():
            return bundle
        with self._locked(bundle.with_suffix(".lock")):
            if not bundle.exists():
                self._write(bundle, render())
        return bundle

    def _write(self, bundle: Path, release: Release) -> None:
        from ansible_collections.kyma.lifecycle.plugins.module_utils._task.bundle_file import (
            write_bundle_file,
        )

        unfinished = bundle.with_suffix(f".{os.getpid()}")
        write_bundle_file(release, unfinished)
        unfinished.replace(bundle)

    @contextlib.contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        with path.open("w") as file:
            if not self._locks_soon(file):
                self._say(
                    f"waiting for another host's task, which renders the same release (it holds {path})"
                )
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _locks_soon(self, file: IO[str]) -> bool:
        end = time.monotonic() + SILENT_SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    return False
                time.sleep(LOOK_SECONDS)
            else:
                return True
