# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tarball of a release has the same bytes on every machine, and Ansible accepts its checksums.

Links of its README are absolute.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from tests.make import tarball
from tests.make.command import CommandError
from tests.make.environments import MAIN

SECONDS = 1_800_000_000
NAMES = (
    "README.md",
    "plugins/modules/one.py",
    "plugins/modules/two.py",
    f"docs/{'long' * 30}/{'name' * 20}.md",
)
GALAXY = {
    "namespace": "acme",
    "name": "sample",
    "version": "1.0.0",
    "readme": "README.md",
    "authors": ["acme"],
    "license": ["GPL-3.0-or-later"],
    "repository": "https://github.com/acme/sample",
    "documentation": "https://acme.example/sample",
}


def built(folder: Path, names: tuple[str, ...], umask: int, changed: int) -> Path:
    """The tarball of a collection whose files were created in this order, with a umask and at a time."""
    before = os.umask(umask)
    try:
        collection = folder / "acme" / "sample"
        for name in ("galaxy.yml", *names):
            path = collection / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(GALAXY) if name == "galaxy.yml" else name)
            os.utime(path, (changed, changed))
        (folder / "out").mkdir()
        return tarball.build(collection, folder / "out", SECONDS)
    finally:
        os.umask(before)


def test_clocks_umasks_and_folders_change_no_byte(tmp_path: Path) -> None:
    one = built(tmp_path / "one", NAMES, 0o022, 1_000_000_000)
    other = built(tmp_path / "another" / "place", NAMES[::-1], 0o077, 1_700_000_000)
    assert one.read_bytes() == other.read_bytes()
    with tarfile.open(one) as archive:
        entries = archive.getmembers()
    assert {(entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname) for entry in entries} == {
        (SECONDS, 0, 0, "", "")
    }
    assert {entry.mode for entry in entries if entry.isfile()} == {0o644}
    assert set(NAMES) <= {entry.name for entry in entries}
    _install(one, tmp_path)
    installed = tmp_path / "installed" / "ansible_collections" / "acme" / "sample"
    assert [(installed / name).read_text() for name in NAMES] == list(NAMES)


def test_the_order_in_which_a_file_system_lists_files_changes_no_byte(tmp_path: Path) -> None:
    drafts = [tmp_path / "one.tar", tmp_path / "other.tar"]
    for draft, names in zip(drafts, (NAMES, NAMES[::-1]), strict=True):
        manifest = {
            "collection_info": {"repository": None, "documentation": None, "version": "1.0.0"},
            "file_manifest_file": {"chksum_sha256": ""},
        }
        contents = {"FILES.json": json.dumps({"files": [{"name": name} for name in names]})}
        contents |= {"MANIFEST.json": json.dumps(manifest), **{name: name for name in names}}
        with tarfile.open(draft, "w") as archive:
            for name, text in contents.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
    one, other = (tarball.repacked(draft, SECONDS) for draft in drafts)
    assert one == other


def collection_with(readme: str, folder: Path) -> Path:
    """A collection with this README."""
    folder.mkdir()
    (folder / "galaxy.yml").write_text(yaml.safe_dump(GALAXY))
    (folder / "README.md").write_text(readme)
    return folder


def test_links_of_the_readme_are_absolute_and_its_checksum_is_that_of_its_text(tmp_path: Path) -> None:
    collection = collection_with("[a](docs/a.md) ![b](docs/b.png)", tmp_path / "collection")
    path = tarball.build(collection, tmp_path, SECONDS)
    _install(path, tmp_path)
    assert (tmp_path / "installed/ansible_collections/acme/sample/README.md").read_text() == (
        "[a](https://acme.example/sample/1.0.0/a.html)"
        " ![b](https://raw.githubusercontent.com/acme/sample/1.0.0/docs/b.png)"
    )


def test_a_readme_whose_link_stays_relative_is_refused(tmp_path: Path) -> None:
    collection = collection_with("<img src='docs/b.png'>", tmp_path / "collection")
    with pytest.raises(CommandError, match=r"^Galaxy resolves no relative link.*\nREADME\.md: docs/b\.png$"):
        tarball.build(collection, tmp_path, SECONDS)


def _install(path: Path, folder: Path) -> None:
    command = [MAIN.bin / "ansible-galaxy", "collection", "install", path, "--offline"]
    done = subprocess.run(
        [*command, "--collections-path", folder / "installed"],
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
