# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Official programs: their pinned checksums, whether they can be downloaded, and the download.

The usual variables of proxies apply (`https_proxy`, `no_proxy`), as urllib reads them.
"""

from __future__ import annotations

import base64
import hashlib
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path

import yaml

from . import paths
from .console import MovingLine
from .errors import ClusterError

TABLE = paths.HERE / "downloads.yaml"
DECISION_SECONDS = 3.0
"""After which a server that has not answered counts as unreachable."""
SILENCE_SECONDS = 20.0
"""After which a server that sends nothing counts as broken off."""
ATTEMPTS = 3
"""In a row that bring nothing, before a download is given up."""
BLOCK = 1 << 18
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Download:
    """A file with a pinned checksum.

    Attributes:
        name: the program.
        version: of it, e.g. `v1.36.3`.
        url: its official address.
        checksum: `sha256:` of the file, or `h1:` of a Go module, as go.sum has it.
        source: where the checksum was read.
        member: the program's path in an archive; empty where the file is the program.
    """

    name: str
    version: str
    url: str
    checksum: str
    source: str
    member: str = ""

    def address(self, mirror: str) -> str:
        """Return the address on a mirror: the official one without its scheme, below the mirror's."""
        return f"{mirror.rstrip('/')}/{self.url.removeprefix('https://')}" if mirror else self.url


def read_table(file: Path) -> Mapping[str, Download]:
    """Return the downloads by name; one without a checksum is left out."""
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {name: Download(name, **entry) for name, entry in entries.items() if entry.get("checksum")}


def refusals(downloads: Iterable[Download], mirror: str, seconds: float) -> dict[str, str]:
    """Return for each download why it is impossible, or an empty text. All servers are asked at once."""
    answers: dict[str, str] = {}
    requests = [
        (each, threading.Thread(target=_ask, args=(each, mirror, seconds, answers), daemon=True))
        for each in downloads
    ]
    for _each, thread in requests:
        thread.start()
    deadline = time.monotonic() + seconds
    for _each, thread in requests:
        thread.join(max(0.0, deadline - time.monotonic()))
    return {
        each.name: answers.get(each.name, f"{_server(each.address(mirror))}: no answer within {seconds:g} s")
        for each, _thread in requests
    }


def _ask(download: Download, mirror: str, seconds: float, answers: dict[str, str]) -> None:
    """Ask for the first byte; a lookup of a name has no timeout, so the caller doesn't wait for this."""
    address = download.address(mirror)
    try:
        with _open(address, seconds, "bytes=0-0"):
            answers[download.name] = ""
    except (OSError, HTTPException, ValueError) as error:
        answers[download.name] = f"{_server(address)}: {_reason(error)}"


def fetch(download: Download, folder: Path, mirror: str = "", silence: float = SILENCE_SECONDS) -> Path:
    """Return the file, whole and checked. What an earlier attempt left is continued.

    Args:
        download: what to get.
        folder: for the file.
        mirror: the address of a mirror; empty for the official server.
        silence: seconds after which a server that sends nothing counts as broken off.

    Raises:
        ClusterError: it can't be downloaded, or isn't what it should be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{download.name} {download.version}.part".replace(" ", "-")
    in_vain = 0
    progress = MovingLine()
    while True:
        before = _size(part)
        try:
            _continue(download, part, mirror, silence, progress)
            break
        except (OSError, HTTPException, ValueError) as error:
            in_vain = in_vain + 1 if _size(part) <= before else 0
            if in_vain == ATTEMPTS:
                raise ClusterError(
                    f"{download.name} can't be downloaded from {download.address(mirror)}: {_reason(error)}"
                ) from error
        finally:
            progress.clear()
    _check(download, part, mirror)
    return part.replace(part.with_suffix(""))


def _continue(download: Download, part: Path, mirror: str, silence: float, progress: MovingLine) -> None:
    """Get the rest of a file, or all of it if the server doesn't give parts."""
    have = _size(part)
    try:
        answer = _open(download.address(mirror), silence, f"bytes={have}-" if have else "")
    except urllib.error.HTTPError as error:
        if error.code == 416:  # what is there can't be the beginning of the file
            part.unlink()
        raise
    with answer:
        have = have if answer.status == 206 else 0
        total = have + int(answer.headers.get("Content-Length") or 0)
        with part.open("ab" if have else "wb") as file:
            while block := answer.read(BLOCK):
                file.write(block)
                have += len(block)
                progress.show(progress_bar(download.name, have, total))
    if have < total:
        raise ConnectionError(f"broken off after {have} of {total} bytes")


def progress_bar(name: str, have: int, total: int) -> str:
    """Return a line that shows how much of a file is there."""
    share = have / total if total else 0.0
    filled = "#" * round(30 * share)
    return f"  {name} [{filled:<30}] {have / MEGABYTE:.0f} of {total / MEGABYTE:.0f} MB"


def _open(address: str, seconds: float, part: str) -> HTTPResponse:
    request = urllib.request.Request(address, headers={"Range": part} if part else {})
    # urllib.request.urlopen would keep the proxies of its first call.
    answer: HTTPResponse = urllib.request.build_opener().open(request, timeout=seconds)
    return answer


def _check(download: Download, file: Path, mirror: str) -> None:
    algorithm = download.checksum.partition(":")[0]
    actual = f"{algorithm}:{module_digest(file) if algorithm == 'h1' else _sha256(file)}"
    if actual != download.checksum:
        file.unlink()
        raise ClusterError(
            f"{download.address(mirror)} is not {download.name} {download.version}, and was deleted: its "
            f"checksum is {actual}, not {download.checksum} as {download.source} has it."
        )


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def module_digest(file: Path) -> str:
    """Return the digest of a Go module's archive as go.sum has it: of its files, not of its compression."""
    try:
        with zipfile.ZipFile(file) as archive:
            lines = [
                f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name}\n"
                for name in sorted(archive.namelist())
            ]
    except zipfile.BadZipFile:
        return "not a zip archive"
    return base64.b64encode(hashlib.sha256("".join(lines).encode()).digest()).decode()


def _server(address: str) -> str:
    return urllib.parse.urlsplit(address).netloc or address


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _reason(error: Exception) -> str:
    cause = getattr(error, "reason", error)
    return getattr(cause, "strerror", "") or str(cause) or type(error).__name__
