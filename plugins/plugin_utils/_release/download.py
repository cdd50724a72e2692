# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Download files."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit

from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import release_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._text import without_login

_SECONDS_WITHOUT_A_BYTE = 60


def download(url: str, target: Path) -> None:
    """Write the content of a URL to a file; proxies, logins and certificates are as for all of Ansible.

    Raises:
        ReleaseError: the download failed.
    """
    from ansible.module_utils.urls import open_url

    try:
        with open_url(url, timeout=_SECONDS_WITHOUT_A_BYTE) as answer, target.open("wb") as file:
            shutil.copyfileobj(answer, file)
    except Exception as error:
        # open_url raises urllib's, http's, ssl's and classes of its own: each has the reason in one line.
        raise release_error(
            f"can't be downloaded: {_without_secrets(str(error), url)}", without_login(url)
        ) from error


def _without_secrets(text: str, url: str) -> str:
    """A text without the user, the password and the query of a URL: some errors quote them."""
    parts = urlsplit(url)
    login = parts.netloc.rpartition("@")[0]
    for secret in (login, login.partition(":")[2], parts.query):
        text = text.replace(secret, "***") if secret else text
    return text
