# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Downloads files in bounded time and size, without giving a login to another host."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO
from urllib.parse import SplitResult, urljoin, urlsplit

from ...module_utils._redaction import secrets_of, without_login
from ...module_utils._release.limits import DEFAULT_LIMITS, MEGABYTE, Limits, beyond
from ...module_utils._release.release_error import release_error
from ...module_utils._text import one_line

_SECONDS_WITHOUT_A_BYTE = 60
_PIECE = 65536
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}


class _Refused(Exception):
    """A download that is not continued; the message has no login."""


def download(url: str, target: Path, limits: Limits = DEFAULT_LIMITS) -> None:
    """Write the content of a URL to a file; proxies, logins and certificates are as for all of Ansible.

    Raises:
        ReleaseError: the download failed, or exceeded a limit.
    """
    attempt = _Download(url, target, limits)
    # A server that sends a byte from time to time keeps a read waiting for ever.
    thread = threading.Thread(target=attempt.run, daemon=True)
    thread.start()
    thread.join(limits.download_seconds)
    if thread.is_alive():
        attempt.is_abandoned = True
        attempt.error = f"it takes {beyond('download_seconds', limits.download_seconds, 'seconds')}"
    if attempt.error:
        raise release_error(f"can't be downloaded: {attempt.error}", without_login(url))


class _Download:
    """One download.

    Attributes:
        error: why it failed, without a login; empty if it did not.
        is_abandoned: whether nobody waits for it.
    """

    def __init__(self, url: str, target: Path, limits: Limits) -> None:
        self.error = ""
        self.is_abandoned = False
        self._urls = [url]
        self._target = target
        self._limits = limits

    def run(self) -> None:
        """Download it."""
        try:
            self._follow()
        except _Refused as error:
            self.error = str(error)
        except Exception as error:
            # open_url raises urllib's, http's, ssl's and classes of its own: each has the reason in one line.
            self.error = one_line(_without_secrets(str(error), self._urls))

    def _follow(self) -> None:
        from urllib.error import HTTPError

        from ansible.module_utils.urls import open_url

        while len(self._urls) <= _MOST_REDIRECTS + 1:
            url = self._urls[-1]
            try:
                with open_url(
                    url, timeout=_SECONDS_WITHOUT_A_BYTE, follow_redirects="none", force_basic_auth=True
                ) as answer:
                    self._write(answer)
                    return
            except HTTPError as error:
                place = error.headers.get("Location") if error.code in _REDIRECTS else None
                if not place:
                    raise
                self._urls.append(redirected(url, place))
        raise _Refused(f"more than {_MOST_REDIRECTS} redirects")

    def _write(self, answer: IO[bytes]) -> None:
        size = 0
        with self._target.open("wb") as file:
            while piece := answer.read(_PIECE):
                size += file.write(piece)
                if self.is_abandoned:
                    return
                if size > self._limits.download_mb * MEGABYTE:
                    raise _Refused(f"it has {beyond('download_mb', self._limits.download_mb)}")


def redirected(url: str, place: str) -> str:
    """The URL that a redirect leads to. It has the login of the first one only on the same host and port.

    Raises:
        _Refused: it leads to http from elsewhere, or to another scheme.
    """
    before, after = urlsplit(url), urlsplit(urljoin(url, place))
    is_same = _origin(before) == _origin(after)
    if after.scheme != "https" and not (after.scheme == "http" and is_same):
        raise _Refused(
            f"it is redirected to {without_login(after.geturl())}, and only https, or http on the same host"
            " and port, is followed"
        )
    host = after.netloc.rpartition("@")[2]
    login, at, _host = before.netloc.rpartition("@")
    return after._replace(netloc=f"{login}{at}{host}" if is_same else host).geturl()


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _without_secrets(text: str, urls: Iterable[str]) -> str:
    """A text without the logins and the queries of some URLs: some errors quote them, or parts of them."""
    for url in urls:
        text = text.replace(url, without_login(url))
        for secret in secrets_of(url):
            text = text.replace(secret, "***")
    return text
