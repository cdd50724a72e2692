# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which releases are at hand."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.catalog import read_catalog

SHA = "sha256:" + 64 * "a"


def release(place: Path, release_file: str = "") -> Path:
    place.mkdir(parents=True)
    (place / "components.yaml").write_text("components: []\n")
    if release_file:
        (place / "release.yaml").write_text(release_file)
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "releases"
    release(place / "2.9")
    release(place / "ten", "version: '2.10'\nupgrades_from: ['2.8']\n")
    release(place / "broken", "version: [\n")
    release(place / "unnamed")
    (place / "notes").mkdir()
    (place / "README.md").write_text("2.7")
    archive(place / "kyma-2.8.tar.gz")
    (place / "kyma-2.6.tar.gz").write_bytes(b"")
    return place


def archive(place: Path, release_file: str = "", top: str = "kyma/") -> Path:
    files = {"components.yaml": "components: []\n", "a/release.yaml": "kind: ConfigMap\n"}
    if release_file:
        files["release.yaml"] = release_file
    with tarfile.open(place, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(top + name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return place


def versions(entries: list[str | Mapping[str, Any]], target: Path) -> dict[str, tuple[str, ...]]:
    listed = read_catalog(entries, ReleaseRequest(str(target), profile="production"))
    assert {one.request.profile for one in listed} <= {"production"}
    return {one.version: one.upgrades_from for one in listed}


def test_a_folder_of_releases(folder: Path) -> None:
    expected: dict[str, tuple[str, ...]] = {"2.9": (), "2.8": (), "2.10": ("2.8",)}
    assert versions([str(folder)], folder / "2.9") == expected
    assert versions([], folder / "2.9") == expected


@pytest.mark.parametrize("top", ["kyma/", "./kyma/", "./", ""])
def test_an_archive_says_itself_what_it_is(tmp_path: Path, top: str) -> None:
    place = archive(tmp_path / "kyma-2.11.tar.gz", "version: 2.11.3\nupgrades_from: [2.9]\n", top)
    assert versions([str(place)], tmp_path) == {"2.11.3": ("2.9",)}
    unnamed = archive(tmp_path / "ten.tgz", "version: '2.10'\n", top)
    assert versions([str(unnamed)], tmp_path) == {"2.10": ()}
    assert set(versions([], unnamed)) == {"2.11.3", "2.10"}


def test_an_archive_that_says_nothing_is_what_it_is_called(tmp_path: Path) -> None:
    assert versions([str(archive(tmp_path / "a.tgz", top="kyma-2.9/"))], tmp_path) == {"2.9": ()}
    assert versions([str(archive(tmp_path / "2.8.tar.gz"))], tmp_path) == {"2.8": ()}


def test_errors_of_an_archive_are_reported_if_it_is_listed_itself(tmp_path: Path) -> None:
    bad = archive(tmp_path / "kyma-2.9.tar.gz", "version: [\n")
    with pytest.raises(ReleaseError, match=r"kyma-2\.9\.tar\.gz/release.yaml:2:1: not YAML"):
        read_catalog([str(bad)], ReleaseRequest("x"))
    with pytest.raises(ReleaseError, match=r"kyma-2\.9\.tar\.gz: its sha256 is"):
        read_catalog([{"release": str(bad), "checksum": SHA}], ReleaseRequest("x"))
    bad.write_bytes(b"")
    with pytest.raises(ReleaseError, match="can't be unpacked"):
        read_catalog([str(bad)], ReleaseRequest("x"))
    assert versions([], bad) == {}


def test_releases_one_by_one(folder: Path) -> None:
    entries: list[str | Mapping[str, Any]] = [
        str(folder / "ten"),
        {"release": "https://example.com/kyma-2.11.tar.gz", "checksum": SHA},
        {"release": "https://example.com/latest.tgz", "checksum": SHA, "version": "v2.12"},
    ]
    assert set(versions(entries, folder / "2.9")) == {"2.10", "2.11", "2.12"}
    [_ten, url, _named] = read_catalog(entries, ReleaseRequest("x", checksum="of x", version="of x"))
    assert (url.request.source, url.request.checksum) == ("https://example.com/kyma-2.11.tar.gz", SHA)
    assert url.request.version == ""


@pytest.mark.parametrize("entry", [{"releases": "x"}, {}, {"release": "https://example.com/latest.tgz"}])
def test_an_entry_without_a_release_is_refused(entry: dict[str, str]) -> None:
    with pytest.raises(ReleaseError, match="release_catalog"):
        read_catalog([entry], ReleaseRequest("x"))


@pytest.mark.parametrize("key", ["version", "release"])
def test_a_version_without_quotes_is_refused_as_it_may_be_another_one(folder: Path, key: str) -> None:
    with pytest.raises(ReleaseError, match=f"release_catalog: {key}: 2.1 is a number.*in quotes"):
        read_catalog([{"release": str(folder / "unnamed"), key: 2.10}], ReleaseRequest("x"))


def test_a_release_that_is_listed_by_itself_must_be_readable(folder: Path) -> None:
    with pytest.raises(ReleaseError):
        read_catalog([str(folder / "broken")], ReleaseRequest("x"))
