# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendered releases, stored for one run of ansible-playbook: the plan renders, the phases after it read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ...module_utils._release.bundle import read_bundle_file, write_bundle_file
from ...module_utils._release.model import Release

SILENT_SECONDS = 3.0
"""Seconds to wait for another host without a message."""
LOOK_SECONDS = 0.05


class ReleaseCache:
    """Bundles in a folder that ansible-playbook removes at its end, each named by the release's fingerprint.

    The workers of several hosts share it. If several need the same release at the same time, one renders it
    and the others wait.

    Args:
        folder: of the bundles.
        report: called with a sentence for people when a wait becomes long.
        before_writing: called with the folder before a bundle is written there.
    """

    def __init__(
        self,
        folder: str | Path,
        report: Callable[[str], None],
        before_writing: Callable[[Path], None] = lambda _folder: None,
    ) -> None:
        self._folder = Path(folder)
        self._report = report
        self._before_writing = before_writing

    def path(self, fingerprint: str) -> Path:
        """The path of the bundle of the release with this fingerprint; only its owner can read it."""
        return self._folder / f"kyma-release-{fingerprint}.bundle"

    def release(
        self,
        fingerprint: str,
        enough: Callable[[Release], bool],
        read: Callable[[Release | None], Release],
    ) -> Release:
        """The release with this fingerprint; more of it is read when that is needed.

        Args:
            fingerprint: hexadecimal digits.
            enough: returns whether the stored parts suffice.
            read: reads the missing parts. Its exceptions are passed on.
        """
        bundle = self.path(fingerprint)
        stored = _release_in(bundle)
        if stored is not None and enough(stored):
            return stored
        with self._locked(bundle.with_suffix(".lock")):
            stored = _release_in(bundle)
            if stored is None or not enough(stored):
                stored = read(stored)
                self._write(bundle, stored)
        return stored

    def _write(self, bundle: Path, release: Release) -> None:
        self._before_writing(self._folder)
        unfinished = bundle.with_suffix(f".{os.getpid()}")
        write_bundle_file(release, unfinished)
        unfinished.replace(bundle)

    @contextlib.contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        with path.open("w") as file:
            if not self._locks_soon(file):
                self._report(
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


def _release_in(bundle: Path) -> Release | None:
    if not bundle.exists():
        return None

    return read_bundle_file(bundle)
