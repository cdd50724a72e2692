# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendered releases and charts, stored for one run of ansible-playbook, so that its hosts share them."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

from ...module_utils._release.bundle import read_bundle_file, write_bundle_file, write_private
from ...module_utils._release.model import Release

SILENT_SECONDS = 3.0
"""Seconds to wait for another host without a message."""
LOOK_SECONDS = 0.05


class ReleaseCache:
    """Files in a folder that ansible-playbook removes at its end, which only their owner can read.

    The workers of several hosts share it. If several need the same file at the same time, one renders it
    and the others wait. A rendered release is a bundle, named by the release's fingerprint.

    Args:
        folder: of the files.
        report: called with a sentence for people when a wait becomes long.
        before_writing: called with the folder before a file is written there.
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
                self._write(bundle, partial(write_bundle_file, stored))
        return stored

    def output(self, key: str, run: Callable[[], str]) -> str:
        """The output of a program, which runs once for all hosts.

        Args:
            key: names everything that the output depends on.
            run: runs the program. Its exceptions are passed on.
        """
        path = self._folder / f"kyma-output-{hashlib.sha256(key.encode()).hexdigest()}.txt"
        if not path.exists():
            with self._locked(path.with_suffix(".lock")):
                if not path.exists():
                    text = run()
                    self._write(path, partial(write_private, content=text.encode()))
        return path.read_bytes().decode()

    def _write(self, path: Path, write: Callable[[Path], None]) -> None:
        """Write a file, which other hosts see only when it is complete."""
        self._before_writing(self._folder)
        unfinished = path.with_suffix(f".{os.getpid()}")
        write(unfinished)
        unfinished.replace(path)

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
