# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests by their links and paths; one that can't be had concerns no other."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_catalog import manifest_objects
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.download_cache import DownloadCache
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._modules.manifests import (
    FetchedManifest,
    ManifestFetcher,
)

from tests.support.file_server import FileServer
from tests.support.real_modules import real_modules

B, C = "b: 1\n", "c: 1\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_links_paths_and_pins(server: FileServer, cache: DownloadCache, tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("\ufeffa: 1\r\n")
    pinned, unpinned = server.put("p.yaml", B), server.put("u.yaml", C)
    fetcher = ManifestFetcher(cache, {pinned: f"sha256:{digest(B)}"})
    note = f"unpinned: {unpinned}. To refuse any other content, pin its sha256 (checksums): {digest(C)}"
    assert fetcher.fetch([str(file), file.as_uri(), pinned, unpinned, unpinned]) == {
        str(file): FetchedManifest("a: 1\r\n"),
        file.as_uri(): FetchedManifest("a: 1\r\n"),
        pinned: FetchedManifest(B),
        unpinned: FetchedManifest(C, notes=(note,)),
    }
    assert sorted(server.requested) == ["/p.yaml", "/u.yaml"]
    fetcher.fetch([pinned])
    assert sorted(server.requested) == ["/p.yaml", "/u.yaml"]


def test_each_unavailable_manifest_has_its_own_error(
    server: FileServer, cache: DownloadCache, tmp_path: Path
) -> None:
    file = tmp_path / "m.yaml"
    file.write_bytes(b"\xe9")
    good, pinned = server.put("good.yaml", B), server.put("p.yaml", C)
    fetcher = ManifestFetcher(cache, {pinned: "0" * 64, str(tmp_path / "n.yaml"): "0" * 64})
    (tmp_path / "n.yaml").write_text("")
    errors = {
        str(file): f"{file}: not UTF-8 text: ",
        str(tmp_path / "gone"): f"{tmp_path}/gone: can't be read: No such file or directory",
        str(tmp_path): f"{tmp_path}: can't be read: Is a directory",
        str(tmp_path / "n.yaml"): f"{tmp_path}/n.yaml: its sha256 is ",
        pinned: f"{pinned}: its sha256 is {digest(C)}, but {'0' * 64} is wanted",
        "oci://user:hunter2@registry/m": "oci://registry/m: only paths and http, https and file URLs",
        f"{server.address}/gone.yaml?token=secret": f"{server.address}/gone.yaml: can't be downloaded: ",
    }
    fetched = fetcher.fetch([good, *errors])
    assert fetched.pop(good).text == B
    assert {key: one.error[: len(errors[key])] for key, one in fetched.items()} == errors
    assert {one.text for one in fetched.values()} == {""}
    assert not any(secret in repr([*fetched.values()]) for secret in ("hunter2", "secret"))


def test_a_pin_of_another_form_is_refused(cache: DownloadCache) -> None:
    with pytest.raises(ReleaseError, match="the checksum 'md5:1' is not of the form sha256:"):
        ManifestFetcher(cache, {"https://x/y": "md5:1"})


def test_a_real_manifest_behind_its_link(server: FileServer, cache: DownloadCache) -> None:
    text = (real_modules() / "docker-registry" / "manifests" / "0.13.0.yaml").read_text()
    link = server.put("docker-registry/releases/download/0.13.0/dockerregistry-operator-community.yaml", text)
    fetched = ManifestFetcher(cache, {}).fetch([link])[link]
    assert len(manifest_objects.read_manifest(fetched.text, link).objects) == 14
