# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No link in a release leads out of it, wherever it is and whatever reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.limits import Limits
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release, ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release import contained_files, loader
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.contained_files import (
    copy_inside,
    open_inside,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.fingerprint import fingerprint
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import (
    load_component,
    load_release,
)

from tests.unit.conftest import Write

WORD = "word-of-another-file"
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
OUTSIDE = f"{OBJECT}data: {{a: {WORD}}}\n"
FILES = (
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ .Files.Get "notes.txt" | quote }},'
    " b: {{ .Values.b | quote }}}\n"
)
RELEASE = {
    "components.yaml": (
        "components: [{name: plain}, {name: chart}, {name: custom}, {name: far, source: x/far}]\n"
    ),
    "release.yaml": 'version: "2.9"\n',
    "crds/a.yaml": OBJECT,
    "plain/m.yaml": OBJECT,
    "chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 0.1.0\n",
    "chart/values.yaml": "b: c\n",
    "chart/profile-big.yaml": "b: d\n",
    "chart/notes.txt": "notes",
    "chart/templates/m.yaml": FILES,
    "custom/kustomization.yaml": "resources: [m.yaml, ../base]\n",
    "custom/m.yaml": OBJECT,
    "base/kustomization.yaml": "resources: [n.yaml]\n",
    "base/n.yaml": OBJECT.replace("name: a", "name: b"),
    "x/far/m.yaml": OBJECT,
}
PLACES = [*(name for name in RELEASE), "plain", "chart", "chart/templates", "custom", "base", "x", "crds"]


@pytest.fixture
def load(helm: str, kubectl: str) -> Callable[..., Release]:
    del kubectl

    def loaded(root: Path, **request: Any) -> Release:
        return load_release(ReleaseRequest(str(root), helm_binary=helm, **request))

    return loaded


def moved_out(root: Path, place: str) -> Path:
    """Replace a file or a folder of a release by a link to it at another place."""
    outside = root.parent / "outside"
    outside.mkdir(exist_ok=True)
    target = outside / place.replace("/", "-")
    (root / place).rename(target)
    (root / place).symlink_to(target)
    return target


@pytest.mark.parametrize("place", PLACES)
def test_a_link_to_another_folder_is_refused_before_anything_is_rendered(write: Write, place: str) -> None:
    root = write(RELEASE)
    moved_out(root, place)
    with pytest.raises(ReleaseError, match=f"{place}: can't be read: a symbolic link leads from it out of"):
        fingerprint(ReleaseRequest(str(root)))


@pytest.mark.parametrize("place", PLACES)
def test_a_link_that_appears_after_the_fingerprint_is_refused_by_what_reads_it(
    write: Write, monkeypatch: pytest.MonkeyPatch, load: Callable[..., Release], place: str
) -> None:
    root = write(RELEASE)
    real, request = loader.open_source, ReleaseRequest(str(root), profile="big")
    monkeypatch.setattr(loader, "fingerprint", lambda *_arguments: "as before")

    def changing(request: ReleaseRequest) -> object:
        moved_out(root, place)
        return real(request)

    monkeypatch.setattr(loader, "open_source", changing)
    with pytest.raises(ReleaseError, match=r"a symbolic link leads from it out of"):
        load(root, profile=request.profile)


@pytest.mark.parametrize("relative", [True, False])
def test_links_inside_stay_and_the_root_may_be_one(
    write: Write, load: Callable[..., Release], relative: bool, tmp_path: Path
) -> None:
    root = write(RELEASE)
    before = load(root, profile="big")
    for number, place in enumerate(
        ("chart/notes.txt", "chart/profile-big.yaml", "plain/m.yaml", "base", "x/far")
    ):
        target = root / f"moved-{number}"
        (root / place).rename(target)
        (root / place).symlink_to(os.path.relpath(target, (root / place).parent) if relative else target)
    (tmp_path / "current").symlink_to(root)
    after = load(tmp_path / "current", profile="big")
    assert {name: one.objects for name, one in after.content.items()} == {
        name: one.objects for name, one in before.content.items()
    }
    assert after.content["chart"].objects[0]["data"] == {"a": "notes", "b": "d"}


def test_files_of_the_user_may_be_anywhere(
    write: Write, load: Callable[..., Release], tmp_path: Path
) -> None:
    root = write(RELEASE)
    real = {"values": tmp_path / "values.yaml", "list": tmp_path / "list.yaml"}
    real["values"].write_text("chart: {b: mine}\n")
    real["list"].write_text("components: [{name: chart}]\n")
    links = {name: tmp_path / f"{name}-link.yaml" for name in real}
    for name, link in links.items():
        link.symlink_to(real[name])
    release = load(root, values_files=(str(links["values"]),), component_list=str(links["list"]))
    assert release.content["chart"].objects[0]["data"]["b"] == "mine"


def test_a_source_through_a_link_is_refused_alone_too(write: Write, load: Callable[..., Release]) -> None:
    del load
    root = write(RELEASE)
    moved_out(root, "x/far")
    with pytest.raises(ReleaseError, match="a symbolic link leads from it out of"):
        load_component(ReleaseRequest(str(root)), "far")


@pytest.mark.parametrize("swapped", ["a/m.yaml", "a"])
def test_a_link_that_appears_after_the_check_is_not_followed(
    write: Write, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    root = write({"a/m.yaml": OBJECT, "b/link.yaml": "", "c": ""})
    outside = root.parent / "outside" / "a"
    outside.mkdir(parents=True)
    (outside / "m.yaml").write_text(OUTSIDE)
    (root / "b" / "link.yaml").unlink()
    (root / "b" / "link.yaml").symlink_to("../a/m.yaml")
    real = contained_files.check_inside

    def checking(path: Path | str, folder: Path | str) -> None:
        real(path, folder)
        (root / swapped).rename(root / "old")
        (root / swapped).symlink_to(outside.parent / swapped)

    monkeypatch.setattr(contained_files, "check_inside", checking)
    with pytest.raises((OSError, ValueError)):
        open_inside(root / "b" / "link.yaml", root)


def test_a_pipe_is_not_opened_as_a_file(write: Write) -> None:
    root = write({"a": ""})
    os.mkfifo(root / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(OSError, match=r"no regular file|Is a directory|Not a directory"):
            open_inside(root / name, root)


@pytest.mark.parametrize("limits", [Limits(archive_files=2), Limits(archive_mb=1)])
def test_a_copy_is_limited(write: Write, limits: Limits) -> None:
    root = write({"a/b": "x" * 600_000, "c": "x" * 600_000, "d/e/f": ""})
    with pytest.raises(OSError, match=r"more than .* raise the limit archive_"):
        copy_inside(root, root, root.parent / "copy", limits)


def test_a_copy_of_circles_ends(write: Write) -> None:
    root = write({"a/b": "x"})
    (root / "a" / "up").symlink_to("..")
    (root / "again").symlink_to("a")
    copy_inside(root, root, root.parent / "copy", Limits())
    copied = sorted(str(path.relative_to(root.parent / "copy")) for path in (root.parent / "copy").rglob("b"))
    assert copied == ["a/b", "again/b"]
