# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tarball of a release, the same bytes wherever it is built, and what a release has beside it.

That is `MANIFEST.json` for its signature, an SBOM, and checksums.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.console import say
from tests.cluster.paths import BUILD, ROOT

from . import content, galaxy_pages, sbom, setup
from .command import CommandError, must_read
from .environments import MAIN
from .outcome import Outcome, passed

FOLDER = BUILD / "tarball"
MANIFEST, FILES = "MANIFEST.json", "FILES.json"
Members = Mapping[str, bytes | None]
"""The content of each member of a tarball by its name, None for a folder."""
EPOCH = "SOURCE_DATE_EPOCH"
"""The variable with the time of all files, in seconds since 1970, as reproducible-builds.org defines it."""


def tarball() -> Outcome:
    """Build the tarball of what Git tracks, and write what belongs to it beside it."""
    setup.for_linters()
    shutil.rmtree(FOLDER, ignore_errors=True)
    built = build_release(FOLDER)
    with tarfile.open(built) as archive:
        manifest = _content(archive, MANIFEST)
    (FOLDER / MANIFEST).write_bytes(manifest)
    sbom.write_sbom(FOLDER / "sbom.cdx.json", built, json.loads(manifest)["collection_info"], _seconds())
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(FOLDER.iterdir())
    ]
    (FOLDER / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    say(f"the tarball is {built.relative_to(ROOT)}")
    return passed()


def build_release(folder: Path) -> Path:
    """Build the tarball of what Git tracks in a new folder; return its path."""
    folder.mkdir(parents=True)
    return build(content.COPY, folder, _seconds())


def _seconds() -> int:
    """The time of a release: of the last commit, unless the environment has another."""
    return int(os.environ.get(EPOCH) or must_read(["git", "log", "-1", "--format=%ct"]))


def build(collection: Path, folder: Path, seconds: int) -> Path:
    """Build the tarball of a collection; return its path.

    Args:
        collection: the folder with galaxy.yml.
        folder: gets the tarball.
        seconds: the time of all files in it, since 1970.
    """
    with tempfile.TemporaryDirectory() as drafts:
        words = ("collection", "build", "--output-path", drafts)
        must_read([MAIN.bin / "ansible-galaxy", *words, collection], env=MAIN.variables)
        (draft,) = Path(drafts).iterdir()
        target = folder / draft.name
        target.write_bytes(repacked(draft, seconds))
    return target


def repacked(draft: Path, seconds: int) -> bytes:
    """The bytes of a tarball that `ansible-galaxy` has built, in an order and with a time and links of ours.

    Raises:
        CommandError: if a page that Galaxy shows still has relative links.
    """
    with tarfile.open(draft) as archive:
        members = {
            one.name: None if one.isdir() else _content(archive, one.name) for one in archive.getmembers()
        }
    return _packed(_sorted(_with_absolute_links(members)), seconds)


def _with_absolute_links(members: Members) -> Members:
    """The members, with absolute links in the pages that Galaxy shows, and with their new checksums."""
    info = json.loads(members[MANIFEST] or b"")["collection_info"]
    home = galaxy_pages.Home(
        repository=info["repository"] or "",
        site=info["documentation"] or "",
        version=info["version"],
        folders={name for name, text in members.items() if text is None},
    )
    pages = {
        name: galaxy_pages.with_absolute_links(text.decode(), name, home)
        for name, text in members.items()
        if text is not None and galaxy_pages.SHOWN.fullmatch(name)
    }
    relative = [
        f"{name}: {link}" for name, text in pages.items() for link in galaxy_pages.relative_links(text)
    ]
    if relative:
        raise CommandError(
            "\n".join(("Galaxy resolves no relative link. Write these as `[text](path)`:", *relative))
        )
    files = json.loads(members[FILES] or b"")
    for one in files["files"]:
        if one["name"] in pages:
            one["chksum_sha256"] = hashlib.sha256(pages[one["name"]].encode()).hexdigest()
    encoded = {name: text.encode() for name, text in pages.items()}
    return {**members, **encoded, FILES: json.dumps(files).encode()}


def _sorted(members: Members) -> Members:
    """The members in their order. FILES.json is sorted, so its checksum in MANIFEST.json is a new one."""
    files = json.loads(members[FILES] or b"")
    files["files"].sort(key=lambda one: str(one["name"]))
    listed = json.dumps(files, indent=1).encode()
    manifest = json.loads(members[MANIFEST] or b"")
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(listed).hexdigest()
    # Ansible reads these two first.
    first = {MANIFEST: json.dumps(manifest, indent=1).encode(), FILES: listed}
    return {**first, **{name: members[name] for name in sorted(members) if name not in first}}


def _packed(members: Members, seconds: int) -> bytes:
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=seconds) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        for name, text in members.items():
            entry = tarfile.TarInfo(name)
            entry.mtime = seconds
            entry.mode = 0o644 if text is not None else 0o755
            if text is None:
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            else:
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise CommandError(f"{name} of the built tarball is no file.")
    return file.read()
