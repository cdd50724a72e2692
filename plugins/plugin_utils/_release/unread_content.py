# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Content before it is read: a digest of its source says whether it has to be rendered again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ...module_utils._release.limits import DEFAULT_LIMITS, Limits
from ...module_utils._release.model import ComponentEntry, Content
from .fingerprint import RENDERING, Digest, content_of, files_of
from .layout import Chart, ComponentSource, Manifests

_NAMESPACE = re.compile(rb"""kind["']?\s*:\s*(?:[&!]\S+\s+)*(?:["']?Namespace\b|\*|["']?\{\{)""")
"""A kind that is Namespace, or may come to be by an alias or a template."""


def unread_files(files: Iterable[Path], root: Path, limits: Limits = DEFAULT_LIMITS) -> Content:
    """The content of plain manifests of the release in a folder, with the digest of the files.

    Raises:
        ReleaseError: one can't be read.
    """
    parts = _Parts(root, limits)
    for file in files:
        parts.add_file(file.name, file)
    return parts.content()


def unread_component(
    entry: ComponentEntry,
    source: ComponentSource,
    *,
    values: Mapping[str, Any],
    crds: str,
    helm_version: Callable[[], str],
    root: Path,
    limits: Limits,
) -> Content:
    """The content of a component; a kustomization has no digest, as its bases may be anywhere.

    Args:
        entry: of the component list.
        source: the place of its content.
        values: the user's values for it.
        crds: the source of the release's CRDs, as charts may ask for the served kinds.
        helm_version: asks the helm binary for its version.
        root: the folder of the release.
        limits: of its files.

    Raises:
        ReleaseError: a file can't be read, or a tool is missing.
    """
    if isinstance(source, Manifests):
        return unread_files(source.files, root, limits)
    if not isinstance(source, Chart):
        return Content((), is_read=False)
    parts = _Parts(root, limits)
    for name, part in (
        ("component", entry.name),
        ("namespace", entry.namespace),
        ("values", json.dumps(values, sort_keys=True)),
        ("crds", crds),
        ("helm", helm_version()),
    ):
        parts.add(name, part.encode())
    for file in files_of(source.folder, root, limits):
        parts.add_file(file.path_from(source.folder), Path(file.place))
    for path in source.values:
        parts.add_file("profile", path)
    return parts.content()


class _Parts:
    """Collects the source of content."""

    def __init__(self, root: Path, limits: Limits) -> None:
        self._root = root
        self._limits = limits
        self._digest = Digest()
        self._digest.add("rendering", RENDERING)
        self._has_namespaces = False

    def add(self, name: str, part: bytes) -> None:
        self._digest.add(name, part)
        self._detect_namespaces(part)

    def add_file(self, name: str, file: Path) -> None:
        content = content_of(file, self._root, self._limits)
        self._digest.add(name, hashlib.sha256(content).hexdigest())
        self._detect_namespaces(content)

    def _detect_namespaces(self, part: bytes) -> None:
        self._has_namespaces = self._has_namespaces or bool(_NAMESPACE.search(part))

    def content(self) -> Content:
        return Content((), source_hash=self._digest.hex(), has_namespaces=self._has_namespaces, is_read=False)
