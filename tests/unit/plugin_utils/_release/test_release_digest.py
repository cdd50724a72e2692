# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same files have the same release digest, wherever and however they are stored."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from io import BufferedReader
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.bundle import from_bundle, to_bundle
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.limits import Limits
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.materials import ControllerMaterials
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import fingerprint as module
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.cache import ReleaseCache
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.fingerprint import (
    release_digest,
    tree_digest,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.source import file_digest

from tests.unit.conftest import Write

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
RELEASE = {
    "components.yaml": "components:\n- name: a\n- name: b\n",
    "a/m.yaml": OBJECT,
    "b/m.yaml": OBJECT,
    "b/a line\nbreak and ä.txt": "not rendered",
    "a-b/x.md": "sorts before a/m.yaml",
    ".hidden/x": "",
}
SHELL = (
    r"find -L . -name .git -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum -z"
    " | sha256sum"
)
"""How anyone can find the digest of a folder."""


def archive_of(root: Path, name: str, *, inside: str = "") -> Path:
    archive = root.parent / name
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(root, inside or ".", filter=lambda one: None if "/.git" in f"/{one.name}" else one)
    return archive


def of(place: Path) -> str:
    return release_digest(ReleaseRequest(str(place), version="2.9"))


def test_the_digest_is_that_of_the_sums_of_all_files(write: Write) -> None:
    root = write({**RELEASE, ".git/config": "x", "a/.git": "y"})
    (root / "link").symlink_to("a/m.yaml")
    (root / "folder").symlink_to("b")
    (root / "empty").mkdir()
    (root / "dangling").symlink_to("nowhere")
    (root / "a" / "up").symlink_to("..")
    printed = subprocess.run(SHELL, shell=True, cwd=root, capture_output=True, text=True, check=True)
    assert of(root) == printed.stdout.split()[0]


def test_a_folder_an_archive_and_a_checkout_have_the_same_digest(write: Write, tmp_path: Path) -> None:
    root = write(RELEASE)
    digest = of(root)
    assert of(archive_of(root, "top.tgz")) == digest
    assert of(archive_of(root, "below.tar.gz", inside="kyma-2.9")) == digest
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], cwd=root, check=True)
    assert of(root) == digest
    subprocess.run([*git, "clone", "-q", str(root), str(tmp_path / "clone")], check=True)
    assert of(tmp_path / "clone") == digest


def test_a_link_counts_as_what_it_leads_to(write: Write, tmp_path: Path) -> None:
    root = write(RELEASE)
    copied = tmp_path / "copied"
    (root / "c").symlink_to("b")
    (root / "a" / "n.yaml").symlink_to("../b/m.yaml")
    shutil.copytree(root, copied)
    assert not any(path.is_symlink() for path in copied.rglob("*"))
    assert of(root) == of(copied)
    assert of(archive_of(root, "links.tgz")) == of(copied)
    (copied / "c" / "m.yaml").write_text("x: y")
    assert of(root) != of(copied)


def test_modes_times_places_and_empty_folders_do_not_count(write: Write, tmp_path: Path) -> None:
    root = write(RELEASE)
    before = of(root)
    (root / "a" / "m.yaml").chmod(0o755)
    os.utime(root / "b" / "m.yaml", (1, 1))
    (root / "empty").mkdir()
    assert of(root) == before
    assert of(root.rename(tmp_path / "elsewhere")) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "a" / "m.yaml").write_text("x: y"),
        lambda root: (root / "a" / "m.yaml").rename(root / "a" / "n.yaml"),
        lambda root: (root / "a" / "m.yaml").unlink(),
        lambda root: (root / "a" / "new").write_text(""),
    ],
)
def test_every_change_of_a_file_changes_it(write: Write, change: Callable[[Path], object]) -> None:
    root = write(RELEASE)
    before = of(root)
    change(root)
    assert of(root) != before


def test_links_out_of_the_release_do_not_count_as_nothing_may_read_them(write: Write, tmp_path: Path) -> None:
    root = write(RELEASE)
    before = of(root)
    (tmp_path / "secret").write_text("x")
    (root / "docs").symlink_to(tmp_path)
    (root / "file").symlink_to(tmp_path / "secret")
    assert of(root) == before


def test_links_that_multiply_are_limited_and_folders_are_not(write: Write) -> None:
    root = write(RELEASE)
    for number in range(20):
        (root / f"d{number}").mkdir()
        for name in "xy":
            (root / f"d{number}" / name).symlink_to(f"../d{number + 1}")
    (root / "d20").mkdir()
    (root / "d20" / "f").write_text("x")
    with pytest.raises(ReleaseError, match="archive_files"):
        tree_digest(root, Limits(archive_files=1000))
    shutil.rmtree(root)
    tree_digest(write({f"{number}.md": "x" for number in range(20)}), Limits(archive_files=10))


def test_a_file_that_can_not_be_read_is_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(RELEASE)

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(ReleaseError, match=f"{root}.*Permission denied"):
        tree_digest(root)


def test_profile_values_and_tools_do_not_count(write: Write, tmp_path: Path) -> None:
    root = write(RELEASE)
    (tmp_path / "values.yaml").write_text("a: {x: y}")
    plain, values = ReleaseRequest(str(root)), (f"{tmp_path}/values.yaml",)
    other = replace(plain, profile="production", helm_binary="/none", values_files=values)
    assert release_digest(plain) == release_digest(other)


def test_a_release_that_is_read_has_its_digest_and_so_has_its_bundle(write: Write) -> None:
    root = write(RELEASE)
    release = load_release(ReleaseRequest(str(root)))
    assert release.release_digest == tree_digest(root)
    assert from_bundle(to_bundle(release)).release_digest == release.release_digest
    assert load_release(ReleaseRequest(str(root)), earlier=release).release_digest == release.release_digest


def test_hosts_unpack_an_archive_once_for_its_digest(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = archive_of(write(RELEASE), "kyma-2.9.tgz")
    unpacked: list[Path] = []
    actual = module.tree_digest

    def counted(root: Path, limits: Limits, *_outputs: object) -> str:
        unpacked.append(root)
        return actual(root, limits)

    monkeypatch.setattr(module, "tree_digest", counted)
    request = ReleaseRequest(str(archive), checksum=f"sha256:{file_digest(archive)}")
    at_url = replace(request, source=archive.as_uri())
    bundles = ReleaseCache(tmp_path, print)
    several = [ControllerMaterials(one, bundles=bundles) for one in (request, request, at_url)]
    digests = {one.release_digest() for one in several}
    assert (len(digests), len(unpacked)) == (1, 1)
    archive_of(write({"new": ""}), "kyma-2.9.tgz")
    assert ControllerMaterials(replace(request, checksum=""), bundles=bundles).release_digest() not in digests


def test_a_release_that_was_read_is_not_read_again_for_it(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    materials = ControllerMaterials(ReleaseRequest(str(write(RELEASE))))
    release = materials.release()
    monkeypatch.setattr(module, "tree_digest", None)
    assert materials.release_digest() == release.release_digest


def test_a_file_that_rests_is_read_once_for_the_fingerprint_and_for_it(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(RELEASE)
    reads: list[int] = []
    actual = module.read_digest

    def counted(file: BufferedReader) -> str:
        reads.append(file.fileno())
        return actual(file)

    monkeypatch.setattr(module, "read_digest", counted)
    monkeypatch.setattr(module, "REST_SECONDS", -60.0)
    materials = ControllerMaterials(ReleaseRequest(str(root)))
    materials.fingerprint()
    before = materials.release_digest()
    assert len(reads) == len(RELEASE)
    (root / "a" / "m.yaml").write_text("x: y")
    assert materials.release_digest() != before
    assert len(reads) == len(RELEASE) + 1


def test_a_new_file_that_many_links_lead_to_is_read_once(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({"a": "x"})
    for number in range(9):
        (root / f"link-{number}").symlink_to("a")
    reads: list[int] = []
    actual = module.read_digest

    def counted(file: BufferedReader) -> str:
        reads.append(file.fileno())
        return actual(file)

    monkeypatch.setattr(module, "read_digest", counted)
    monkeypatch.setattr(module, "REST_SECONDS", 3600.0)
    for _time in range(2):
        tree_digest(root)
    assert len(reads) == 2
