# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The URLs of releases without their logins, which no result of a task may have."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...module_utils._redaction import without_login
from ...module_utils._release.model import ReleaseRequest


class UrlLogins:
    """The whole URLs of this run of ansible-playbook, for the tasks that get a release from a plan's result.

    Args:
        folder: for files that only their owner can read, which ansible-playbook removes at its end.
        before_writing: called with the folder before a file is written there.
    """

    def __init__(self, folder: str | Path, before_writing: Callable[[Path], None]) -> None:
        self._folder = Path(folder)
        self._before_writing = before_writing

    def hide(self, source: str, checksum: str) -> str:
        """The place of a release without its login, by which later tasks find the whole URL."""
        shown = without_login(source)
        if shown != source:
            self._before_writing(self._folder)
            unfinished = self._folder / f"kyma-url-{os.getpid()}"
            with contextlib.suppress(FileNotFoundError):
                unfinished.unlink()
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(source)
            unfinished.replace(self._path(shown, checksum))
        return shown

    def complete(self, request: ReleaseRequest | None) -> ReleaseRequest | None:
        """A request with the login that :meth:`hide` has removed from its URL."""
        if request is None or "://" not in request.source:
            return request
        with contextlib.suppress(OSError):
            path = self._path(request.source, request.checksum)
            return replace(request, source=path.read_text(encoding="utf-8"))
        return request

    def _path(self, shown: str, checksum: str) -> Path:
        return self._folder / f"kyma-url-{hashlib.sha256(f'{checksum} {shown}'.encode()).hexdigest()}"
