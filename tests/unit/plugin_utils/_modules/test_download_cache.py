# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Downloads are stored, and come from their copies where they are pinned or the internet is away."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.download_cache import (
    DEFAULT_FOLDER,
    DownloadCache,
)

from tests.support.file_server import FileServer, serve_files

ONE, TWO = "a: 1\n", "a: 2\n"
GONE = "http://user:hunter2@127.0.0.1:9/m.yaml?token=secret"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def refused(cache: DownloadCache, url: str, sha256: str = "") -> str:
    with pytest.raises(ReleaseError) as caught:
        cache.fetch(url, sha256)
    return str(caught.value)


def test_pinned_content_is_downloaded_once(server: FileServer, cache: DownloadCache) -> None:
    url = server.put("m.yaml", ONE)
    for _time in range(3):
        fetched = cache.fetch(url, digest(ONE))
        assert (fetched.content, fetched.notes, fetched.warnings) == (ONE.encode(), (), ())
    assert server.requested == ["/m.yaml"]
    assert cache.fetch(GONE, digest(ONE)).content == ONE.encode()


def test_other_content_than_the_pinned_one_is_refused_and_not_stored(
    server: FileServer, cache: DownloadCache, tmp_path: Path
) -> None:
    url = server.put("m.yaml", ONE)
    assert refused(cache, url, "0" * 64) == f"{url}: its sha256 is {digest(ONE)}, but {'0' * 64} is wanted"
    assert not (tmp_path / "cache").exists()


def test_unpinned_content_is_downloaded_each_time_and_reported(
    server: FileServer, cache: DownloadCache
) -> None:
    for text in (ONE, TWO):
        url = server.put("m.yaml", text)
        fetched = cache.fetch(url)
        assert (fetched.content, fetched.warnings) == (text.encode(), ())
        assert fetched.notes == (
            f"unpinned: {url}. To refuse any other content, pin its sha256 (checksums): {digest(text)}",
        )
    assert server.requested == ["/m.yaml"] * 2


def test_unpinned_content_comes_from_its_last_download_if_there_is_no_other(
    cache: DownloadCache, tmp_path: Path
) -> None:
    with serve_files(tmp_path / "served") as server:
        for text in (ONE, TWO):
            url = server.put("m.yaml", text) + "?token=secret"
            cache.fetch(url)
        other = server.put("n.yaml", "b: 1\n")
    fetched = cache.fetch(url)
    assert fetched.content == TWO.encode()
    assert fetched.notes == (
        f"unpinned: {server.address}/m.yaml."
        f" To refuse any other content, pin its sha256 (checksums): {digest(TWO)}",
    )
    assert len(fetched.warnings) == 1
    assert fetched.warnings[0].startswith(f"{server.address}/m.yaml: can't be downloaded: ")
    assert fetched.warnings[0].endswith(". Its last download is used, which may be out of date")
    assert "There is no intact copy" in refused(cache, other)


def test_a_damaged_copy_is_not_used(server: FileServer, cache: DownloadCache, tmp_path: Path) -> None:
    url = server.put("m.yaml", ONE)
    cache.fetch(url)
    copy = tmp_path / "cache" / "manifests" / digest(ONE)
    copy.write_text(TWO)
    assert cache.fetch(url, digest(ONE)).content == ONE.encode()
    assert copy.read_text() == ONE
    copy.write_text(TWO)
    (server.folder / "m.yaml").unlink()
    for sha256 in ("", digest(ONE)):
        message = refused(cache, url, sha256)
        assert message.startswith(f"{url}: can't be downloaded: ")
        assert message.endswith(f". There is no intact copy of it in {tmp_path / 'cache' / 'manifests'}")


def test_no_login_is_shown(cache: DownloadCache) -> None:
    for sha256 in ("", "0" * 64):
        message = refused(cache, GONE, sha256)
        assert message.startswith("http://127.0.0.1:9/m.yaml: can't be downloaded: ")
        assert "hunter2" not in message
        assert "secret" not in message
    odd = refused(cache, "http://user:hun ter2@127.0.0.1:9/m.yaml?token=sec ret")
    assert "hun ter2" not in odd
    assert "sec ret" not in odd


def test_only_the_owner_can_write_what_is_stored(
    server: FileServer, cache: DownloadCache, tmp_path: Path
) -> None:
    cache.fetch(server.put("m.yaml", ONE))
    folder = tmp_path / "cache" / "manifests"
    assert [oct(path.stat().st_mode & 0o077) for path in (folder, *folder.iterdir())] == ["0o0"] * 3


def test_a_folder_that_cannot_be_written_is_a_warning(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = DownloadCache(tmp_path / "file" / "manifests")
    url = server.put("m.yaml", ONE)
    warning = f"{tmp_path}/file/manifests: a download can't be stored for later: Not a directory"
    assert cache.fetch(url).warnings == (warning,)
    assert cache.fetch(url, digest(ONE)).warnings == (warning,)


def test_the_default_folder_is_the_user_s(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    DownloadCache().fetch(server.put("m.yaml", ONE))
    assert (tmp_path / DEFAULT_FOLDER[2:] / digest(ONE)).is_file()
