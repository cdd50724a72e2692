# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the ModuleTemplates and ModuleReleaseMetas that a user's catalog names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...module_utils._carrier.module_materials import CLUSTER_CATALOG, COMMUNITY_CATALOG
from ...module_utils._module_catalog.documents import RELEASE_META, TEMPLATE, SourcedDocument
from ...module_utils._release.limits import DEFAULT_LIMITS, Limits
from ...module_utils._release.manifests import (
    MOST_LEVELS,
    is_nested_deeper,
    is_object_list,
    read_file_documents,
)
from ...module_utils._release.release_error import Problem, ReleaseError, release_error
from ...module_utils._threads import map_in_threads
from .._release.yaml_files import decode_text
from .download_cache import DownloadCache
from .places import Place, parse_place, read_local_file

COMMUNITY_LIST = "https://kyma-project.github.io/community-modules/all-modules.json"
"""A JSON array of ModuleTemplates, which Kyma's dashboard and command line read, too."""
_SUFFIXES = (".yaml", ".yml", ".json")
_KINDS = (TEMPLATE, RELEASE_META)


class CatalogSourceError(ReleaseError):
    """Sources of a catalog that can't be read, with all their errors."""

    heading = "the module catalog can't be used for {count} reasons:"


@dataclass
class CatalogDocuments:
    """The content of some sources.

    Attributes:
        documents: ModuleTemplates and ModuleReleaseMetas, each with its file.
        local_manifests: paths of manifests that local files among them name, with the folder that each is in.
        notes: sources to pin, and sources without these documents.
        warnings: copies that may be out of date; keys that are in a document twice.
        problems: unreadable sources.
    """

    documents: list[SourcedDocument] = field(default_factory=list)
    local_manifests: dict[str, Path] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, other: CatalogDocuments) -> None:
        """Add the content of another source."""
        self.documents += other.documents
        self.local_manifests |= other.local_manifests
        self.notes += other.notes
        self.warnings += other.warnings
        self.problems += other.problems

    def add_text(self, text: str, place: Place, root: Path | None = None) -> None:
        """Add the documents of a text, if it has any; other texts need not even be YAML.

        Args:
            text: the content of a place.
            place: of the text.
            root: the folder of a local catalog, which its manifests have to be in.
        """
        if not any(kind in text for kind in _KINDS):
            return
        shown = place.shown
        documents = read_file_documents(text, shown)
        for document in documents:
            origin = shown if len(documents) == 1 else f"{shown}:{document.line}"
            if is_nested_deeper(document.value, MOST_LEVELS):
                raise release_error(f"nested too deeply: more than {MOST_LEVELS} levels", origin)
            sourced = [SourcedDocument(origin, one) for one in _catalog_documents(document.value)]
            if place.path is not None and root is not None:
                for one in sourced:
                    self._resolve_links(one.document, place.path.parent, root)
            self.documents += sourced
            self.warnings += (
                f"{shown}:{line}: the key {key!r} is there twice; the last one counts"
                for key, line in document.duplicates
                if sourced
            )

    def _resolve_links(self, document: dict[str, Any], folder: Path, root: Path) -> None:
        """Make paths of manifests in a document of a local file absolute: they start at that file."""
        spec = document.get("spec")
        resources = spec.get("resources") if isinstance(spec, Mapping) else None
        for entry in resources if isinstance(resources, list) else ():
            link = entry.get("link") if isinstance(entry, Mapping) else None
            if isinstance(link, str) and link and (path := Place(link).path) is not None:
                entry["link"] = link if "://" in link else str(folder / path)
                named = Path(os.path.normpath(folder / path))
                # A path may lead elsewhere. A symbolic link may not, neither in the catalog nor there.
                self.local_manifests[entry["link"]] = root if named.is_relative_to(root) else named.parent


def read_catalog_sources(
    catalog: Iterable[Any], cache: DownloadCache, limits: Limits = DEFAULT_LIMITS
) -> CatalogDocuments:
    """The documents of a catalog's sources, in the order of the sources.

    Args:
        catalog: each a file, a folder (all YAML and JSON files below it) or a URL, as text or as a mapping of
            ``source`` and ``sha256``. The word ``cluster`` is skipped, and ``community`` stands for
            the list of Kyma's community modules.
        cache: downloads.
        limits: of local files.

    Raises:
        CatalogSourceError: all sources that can't be read.
    """
    entries = [entry for entry in catalog if entry != CLUSTER_CATALOG]
    contents = CatalogDocuments()
    for one in map_in_threads(lambda entry: _read_entry(entry, cache, limits), entries):
        contents.add(one)
    if contents.problems:
        raise CatalogSourceError(dict.fromkeys(contents.problems))
    return contents


def _read_entry(entry: Any, cache: DownloadCache, limits: Limits) -> CatalogDocuments:
    contents = CatalogDocuments()
    try:
        place = parse_place(entry, "catalog")
        if place.source == COMMUNITY_CATALOG:
            place = place._replace(source=COMMUNITY_LIST)
        path = place.path
        if path is None:
            downloaded = cache.fetch(place.source, place.sha256)
            contents.notes += downloaded.notes
            contents.warnings += downloaded.warnings
            contents.add_text(decode_text(downloaded.content, place.shown), place)
        elif path.is_dir():
            _read_folder(path, place, contents, limits)
        else:
            text = decode_text(read_local_file(path, place, limits), place.shown)
            contents.add_text(text, place, path.parent)
    except ReleaseError as error:
        contents.problems += error.problems
        return contents
    if not contents.documents and not contents.problems:
        contents.notes.append(f"{place.shown}: it has neither a {TEMPLATE} nor a {RELEASE_META}")
    return contents


def _read_folder(folder: Path, named: Place, contents: CatalogDocuments, limits: Limits) -> None:
    if named.sha256:
        raise release_error("a sha256 is for a file, and this is a folder: leave it out", named.shown)
    for file in _files_below(folder):
        place = Place(str(file))
        try:
            text = decode_text(read_local_file(file, place, limits, folder), place.shown)
            contents.add_text(text, place, folder)
        except ReleaseError as error:
            contents.problems += error.problems


def _files_below(folder: Path) -> Iterator[Path]:
    """The YAML and JSON files of a folder and of those below it, but not of hidden ones."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in sorted(files) if name.endswith(_SUFFIXES))


def _catalog_documents(value: Any) -> Iterator[dict[str, Any]]:
    items = value["items"] if is_object_list(value) else value
    if isinstance(items, list):
        for item in items:
            yield from _catalog_documents(item)
    elif isinstance(value, Mapping) and value.get("kind") in _KINDS:
        yield dict(value)
