# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Downloads with a copy on the controller, for controllers that reach a cluster but not the internet.

The folder has one file per content, named by its sha256, and one per URL, without its login, with the sha256
of its last content.
It can be copied to another controller.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ...module_utils._redaction import without_login, without_user
from ...module_utils._release.limits import DEFAULT_LIMITS, Limits, beyond
from ...module_utils._release.release_error import ReleaseError, release_error
from .._release.download import download

DEFAULT_FOLDER = "~/.cache/kyma.lifecycle/manifests"
_LAST = ".last"


@dataclass(frozen=True)
class Download:
    """The content of a URL.

    Attributes:
        content: the bytes.
        notes: sources to pin.
        warnings: content that may be out of date, or was not stored.
    """

    content: bytes
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class DownloadCache:
    """Downloads, and stores what it has downloaded.

    Args:
        folder: of the copies. It is created when the first one is stored, and only its owner may write.
        limits: of a download, and of its content.
    """

    def __init__(self, folder: str | Path = DEFAULT_FOLDER, limits: Limits = DEFAULT_LIMITS) -> None:
        self._folder = Path(folder).expanduser()
        self._limits = limits

    def fetch(self, url: str, sha256: str = "") -> Download:
        """The content of a URL. A pinned content is downloaded only if there is no copy of it.

        Args:
            url: http or https.
            sha256: of its content, as lower-case hexadecimal digits; empty if it isn't pinned.

        Raises:
            ReleaseError: it can't be downloaded and there is no copy, or its content is not the pinned one.
        """
        return self._fetch_pinned(url, sha256) if sha256 else self._fetch_latest(url)

    def _fetch_pinned(self, url: str, sha256: str) -> Download:
        copy = self._copy(sha256)
        if copy is not None:
            return Download(copy)
        try:
            content = self._downloaded(url)
        except ReleaseError as error:
            raise self._without_copy(error, url) from error
        actual = _digest(content)
        if actual != sha256:
            raise release_error(f"its sha256 is {actual}, but {sha256} is wanted", without_login(url))
        return Download(content, warnings=self._store(content, actual))

    def _fetch_latest(self, url: str) -> Download:
        shown, last = without_login(url), self._folder / (_digest(without_user(url).encode()) + _LAST)
        try:
            content = self._downloaded(url)
        except ReleaseError as error:
            digest = _read(last).decode(errors="replace")
            copy = self._copy(digest)
            if copy is None:
                raise self._without_copy(error, url) from error
            stale = f"{error.problems[0]}. Its last download is used, which may be out of date"
            return Download(copy, (_unpinned(shown, digest),), (stale,))
        digest = _digest(content)
        warnings = self._store(content, digest) or self._write(last, digest.encode())
        return Download(content, (_unpinned(shown, digest),), warnings)

    def _downloaded(self, url: str) -> bytes:
        shown = without_login(url)
        with tempfile.TemporaryDirectory(prefix="kyma-module-") as folder:
            file = Path(folder, "content")
            download(url, file, self._limits)
            if file.stat().st_size > self._limits.rendered:
                raise release_error(f"it has {beyond('rendered_mb', self._limits.rendered_mb)}", shown)
            return file.read_bytes()

    def _without_copy(self, error: ReleaseError, url: str) -> ReleaseError:
        why = error.problems[0].message
        return release_error(f"{why}. There is no intact copy of it in {self._folder}", without_login(url))

    def _copy(self, digest: str) -> bytes | None:
        """The stored content with this digest; None if it does not exist, or was changed."""
        if not digest:
            return None
        content = _read(self._folder / digest)
        return content if _digest(content) == digest else None

    def _store(self, content: bytes, digest: str) -> tuple[str, ...]:
        return self._write(self._folder / digest, content)

    def _write(self, target: Path, content: bytes) -> tuple[str, ...]:
        """Replace a file at once; a failure is a warning, as the content is available."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, unfinished = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                Path(unfinished).replace(target)
            except BaseException:
                Path(unfinished).unlink(missing_ok=True)
                raise
        except OSError as error:
            return (f"{self._folder}: a download can't be stored for later: {error.strerror}",)
        return ()


def _unpinned(shown: str, digest: str) -> str:
    return f"unpinned: {shown}. To refuse any other content, pin its sha256 (checksums): {digest}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
