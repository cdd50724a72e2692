# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tarball of a release, the same bytes wherever it is built, and what a release has beside it.

That is `MANIFEST.json` for its signature, an SBOM of what the collection needs, and checksums.
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
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster.console import say
from tests.cluster.paths import BUILD, ROOT

from . import content, setup
from .command import CommandError, read, shown
from .environments import LINT, MAIN
from .outcome import Outcome, passed

FOLDER = BUILD / "tarball"
MANIFEST, FILES = "MANIFEST.json", "FILES.json"
EPOCH = "SOURCE_DATE_EPOCH"
"""The variable with the time of all files, in seconds since 1970, as reproducible-builds.org defines it."""


def tarball() -> Outcome:
    """Build the tarball of what Git tracks, and write what belongs to it beside it."""
    setup.for_linters()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    seconds = int(os.environ.get(EPOCH) or _read(["git", "log", "-1", "--format=%ct"]))
    built = build(content.COPY, FOLDER, seconds)
    with tarfile.open(built) as archive:
        (FOLDER / MANIFEST).write_bytes(_content(archive, MANIFEST))
    sbom = ("requirements", "--output-reproducible", "--output-file", FOLDER / "sbom.cdx.json")
    _read([LINT.bin / "cyclonedx-py", *sbom, content.COPY / "meta" / "ee-requirements.txt"])
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(FOLDER.iterdir())
    ]
    (FOLDER / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    say(f"the tarball is {built.relative_to(ROOT)}")
    return passed()


def build(collection: Path, folder: Path, seconds: int) -> Path:
    """Build the tarball of a collection; return its path.

    Args:
        collection: the folder with galaxy.yml.
        folder: gets the tarball.
        seconds: the time of all files in it, since 1970.
    """
    with tempfile.TemporaryDirectory() as drafts:
        words = ("collection", "build", "--output-path", drafts)
        _read([MAIN.bin / "ansible-galaxy", *words, collection])
        (draft,) = Path(drafts).iterdir()
        target = folder / draft.name
        target.write_bytes(repacked(draft, seconds))
    return target


def repacked(draft: Path, seconds: int) -> bytes:
    """The bytes of a tarball that `ansible-galaxy` has built, in an order and with a time of ours."""
    with tarfile.open(draft) as archive:
        return _packed(_sorted(archive), seconds)


def _sorted(archive: tarfile.TarFile) -> Mapping[str, bytes | None]:
    """The members by name, None for a folder; FILES.json is sorted, and its checksum is a new one."""
    members = {one.name: None if one.isdir() else _content(archive, one.name) for one in archive.getmembers()}
    files = json.loads(members[FILES] or b"")
    files["files"].sort(key=lambda one: str(one["name"]))
    members[FILES] = json.dumps(files, indent=1).encode()
    manifest = json.loads(members[MANIFEST] or b"")
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(members[FILES] or b"").hexdigest()
    members[MANIFEST] = json.dumps(manifest, indent=1).encode()
    # Ansible reads these two first.
    first = {name: members.pop(name) for name in (MANIFEST, FILES)}
    return {**first, **dict(sorted(members.items()))}


def _packed(members: Mapping[str, bytes | None], seconds: int) -> bytes:
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


def _read(command: Sequence[str | Path]) -> str:
    code, printed = read(command, env=MAIN.variables)
    if code:
        raise CommandError(f"`{shown(command)}` failed:\n{printed}")
    return printed.strip()
