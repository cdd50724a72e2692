# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Later tasks get a release by its URL without its login, and still can download it."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.url_logins import UrlLogins

WHOLE, SHOWN = "https://user:hunter2@host/a.tgz?token=hunter3", "https://host/a.tgz"


def test_a_hidden_login_is_found_again_for_the_same_checksum(tmp_path: Path) -> None:
    folders: list[Path] = []
    logins = UrlLogins(tmp_path, folders.append)
    for source in (WHOLE, WHOLE.replace("hunter2", "hunter4"), WHOLE):
        assert logins.hide(source, "1") == SHOWN
        assert logins.complete(ReleaseRequest(SHOWN, checksum="1")) == ReleaseRequest(source, checksum="1")
    assert logins.complete(ReleaseRequest(SHOWN, checksum="2")) == ReleaseRequest(SHOWN, checksum="2")
    (file,) = tmp_path.iterdir()
    assert (oct(file.stat().st_mode & 0o777), folders) == ("0o600", [tmp_path] * 3)
    assert "hunter" not in file.name


def test_urls_without_a_login_leave_no_file(tmp_path: Path) -> None:
    logins = UrlLogins(tmp_path, lambda _folder: None)
    for source in (SHOWN, "/releases/2.9", "", "/releases/a@b?c"):
        assert logins.hide(source, "") == source
        assert logins.complete(ReleaseRequest(source)) == ReleaseRequest(source)
    assert logins.complete(None) is None
    assert [*tmp_path.iterdir()] == []
