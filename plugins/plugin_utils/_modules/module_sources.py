# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog and the manifests of modules, read on the controller when a task asks for them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ...module_utils._carrier.module_materials import ModuleMaterials
from ...module_utils._cluster.cluster import Object
from ...module_utils._errors import LifecycleError
from ...module_utils._release.limits import limits_of
from ...module_utils._release.release_error import ReleaseError
from .catalog_sources import CatalogDocuments, read_catalog_sources
from .download_cache import DownloadCache
from .hidden_logins import hidden_link
from .manifests import FetchedManifest, ManifestFetcher
from .places import Place, read_local_file


class ModuleSources(ModuleMaterials):
    """The sources that the options of a task name.

    Args:
        params: the validated options; paths are right on the controller.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._limits = limits_of(params)
        self._cache = DownloadCache(params["catalog_cache"], self._limits)
        self._catalog = params["catalog"]
        self._pins: Mapping[str, str] = params["checksums"]
        self._fetched: dict[str, FetchedManifest] = {}
        entries = (params, *(params.get("modules") or ()))
        users = [one["manifest"] for one in entries if one.get("manifest")]
        self._users = {hidden_link(link): link for link in users}

    def documents(self) -> Sequence[tuple[str, Object]]:
        """See ModuleMaterials."""
        return self._read.documents

    def manifest(self, link: str) -> str:
        """See ModuleMaterials."""
        self.fetch([link])
        fetched = self._fetched[link]
        if fetched.error:
            raise LifecycleError(fetched.error)
        return fetched.text

    def digest(self, link: str) -> str:
        """See ModuleMaterials."""
        pin = self._pins.get(self._users.get(link, link))
        if pin:
            return pin.rpartition(":")[2].lower()
        path = Place(link).path if link else None
        if path is None or self._refusal(link):
            return ""
        try:
            content = read_local_file(path, Place(link), self._limits, self._root(link))
        except ReleaseError:
            return ""
        return hashlib.sha256(content).hexdigest()

    def warnings(self) -> Sequence[str]:
        """See ModuleMaterials."""
        read = self._read
        fetched = [text for one in self._fetched.values() for text in (*one.warnings, *one.notes)]
        return [*read.warnings, *read.notes, *fetched]

    def fetch(self, links: Collection[str]) -> None:
        """Read manifests; those that were not read yet in parallel."""
        unread = [link for link in links if link not in self._fetched]
        refused = {link: error for link in unread if (error := self._refusal(link))}
        self._fetched |= {link: FetchedManifest(error=error) for link, error in refused.items()}
        unread = [link for link in unread if link not in refused]
        if unread:
            roots = {link: root for link in unread if (root := self._root(link))}
            whole = {link: self._users.get(link, link) for link in unread}
            fetched = ManifestFetcher(self._cache, self._pins, roots, self._limits).fetch(whole.values())
            self._fetched |= {link: fetched[url] for link, url in whole.items()}

    def _root(self, link: str) -> Path | None:
        """The folder that a local manifest has to be in; None if the user has named it."""
        return None if link in self._users else self._read.local_manifests.get(link)

    def _refusal(self, link: str) -> str:
        """Why a manifest may not be read; empty if it may."""
        path = Place(link).path
        if path is None or link in self._users or link in self._read.local_manifests:
            return ""
        return (
            f"{Place(link).shown}: it is a file of the controller, and the ModuleTemplate that names it was"
            " downloaded or is in the cluster, so it is not read. To use it all the same, set manifest to it"
        )

    def content(self, links: Collection[str]) -> Mapping[str, Any]:
        """All that a module on another host needs, see :class:`~.module_materials.ShippedModules`.

        Args:
            links: of the manifests that it has requested.
        """
        self.fetch(links)
        manifests = {link: self._fetched[link] for link in links}
        return {
            "documents": [list(one) for one in self._read.documents],
            "manifests": {link: one.text for link, one in manifests.items() if not one.error},
            "errors": {link: one.error for link, one in manifests.items() if one.error},
            "digests": {link: self.digest(link) for link in links},
            "warnings": list(self.warnings()),
        }

    @cached_property
    def _read(self) -> CatalogDocuments:
        return read_catalog_sources(self._catalog, self._cache, self._limits)
