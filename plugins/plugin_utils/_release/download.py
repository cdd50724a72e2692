# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetch an archive."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import release_error

_SECONDS_WITHOUT_A_BYTE = 60


def without_login(url: str) -> str:
    """A URL as it may be shown: without user, password and query, any of which may be a secret."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return url
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def download(url: str, target: Path) -> None:
    """Write what a URL holds to a file; proxies, logins and certificates are as for all of Ansible.

    Raises:
        ReleaseError: it can't be had.
    """
    from ansible.module_utils.urls import open_url

    try:
        with open_url(url, timeout=_SECONDS_WITHOUT_A_BYTE) as answer, target.open("wb") as file:
            shutil.copyfileobj(answer, file)
    except Exception as error:
        # open_url raises urllib's, http's, ssl's and classes of its own: each says why in one line.
        raise release_error(f"can't be downloaded: {error}", without_login(url)) from error
