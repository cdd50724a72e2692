# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container images of one program, written as OCI archives, without an engine."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
INDEX = "application/vnd.oci.image.index.v1+json"

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def write(
    target: Path,
    names: Sequence[str],
    files: Mapping[str, Path],
    entrypoint: Sequence[str],
    links: Mapping[str, str] | None = None,
) -> None:
    """Write an archive with one image, under all these names, with these files as programs."""
    with tempfile.TemporaryFile() as layer, tarfile.open(target, "w") as archive:
        _write_layer(layer, files, links or {})
        layer_descriptor = _add_stream(archive, layer, LAYER)
        config = {
            "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": {"Entrypoint": list(entrypoint), "Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]},
            "rootfs": {"type": "layers", "diff_ids": [layer_descriptor["digest"]]},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": _add_json(archive, config, CONFIG),
            "layers": [layer_descriptor],
        }
        descriptor = _add_json(archive, manifest, MANIFEST)
        named = [{**descriptor, "annotations": {"io.containerd.image.name": name}} for name in names]
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": named}
        _add(archive, "index.json", json.dumps(index).encode())
        _add(archive, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')


def _write_layer(layer: IO[bytes], files: Mapping[str, Path], links: Mapping[str, str]) -> None:
    with tarfile.open(fileobj=layer, mode="w") as tar:
        paths = [*files, *links]
        for folder in sorted(
            {"tmp", *(str(parent) for path in paths for parent in Path(path).parents)} - {"."}
        ):
            entry = tarfile.TarInfo(folder)
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o1777 if folder == "tmp" else 0o755
            tar.addfile(entry)
        for path, source in files.items():
            entry = tarfile.TarInfo(path)
            entry.mode = 0o755
            entry.size = source.stat().st_size
            with source.open("rb") as content:
                tar.addfile(entry, content)
        for path, to in links.items():
            entry = tarfile.TarInfo(path)
            entry.type = tarfile.SYMTYPE
            entry.linkname = to
            tar.addfile(entry)


def _add_json(archive: tarfile.TarFile, content: object, media_type: str) -> dict[str, object]:
    return _add_stream(archive, io.BytesIO(json.dumps(content).encode()), media_type)


def _add_stream(
    archive: tarfile.TarFile, stream: io.BytesIO | io.BufferedRandom, media_type: str
) -> dict[str, object]:
    stream.seek(0)
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    entry = tarfile.TarInfo(f"blobs/sha256/{digest}")
    entry.size = size
    archive.addfile(entry, stream)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
