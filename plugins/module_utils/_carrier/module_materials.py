# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's data about modules: the documents of their catalog, and their manifests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from .._cluster.cluster import Object
from .._errors import LifecycleError
from .._redaction import without_login

CLUSTER_CATALOG = "cluster"
"""In a catalog: the ModuleTemplates and ModuleReleaseMetas of the cluster itself."""
COMMUNITY_CATALOG = "community"
"""In a catalog: the published list of Kyma's community modules."""


class MissingManifest(LifecycleError):
    """A manifest that a task needs was not sent to the host.

    Attributes:
        link: identifies it.
    """

    def __init__(self, link: str) -> None:
        super().__init__(f"the manifest {without_login(link)} was not sent along")
        self.link = link


class ModuleMaterials(ABC):
    """The catalog and the manifests of a task."""

    @abstractmethod
    def documents(self) -> Sequence[tuple[str, Object]]:
        """The documents of the catalog, each with the file or URL that it is from."""

    @abstractmethod
    def manifest(self, link: str) -> str:
        """The text of a manifest.

        Args:
            link: a path or a URL.

        Raises:
            MissingManifest: it was not sent to the host.
            LifecycleError: it can't be read.
        """

    @abstractmethod
    def digest(self, link: str) -> str:
        """The sha256 of a manifest if it is known without a download, else empty."""

    def warnings(self) -> Sequence[str]:
        """Warnings about everything that was read so far, each in a sentence."""
        return ()


class ShippedModules(ModuleMaterials):
    """The catalog and manifests that were sent to the host.

    Args:
        content: ``documents``, ``manifests`` (text by link), ``digests`` (by link), ``errors`` (by link) and
            ``warnings``.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content

    def documents(self) -> Sequence[tuple[str, Object]]:
        """See ModuleMaterials."""
        return list(map(tuple, self._content.get("documents", ())))

    def manifest(self, link: str) -> str:
        """See ModuleMaterials."""
        error = self._content.get("errors", {}).get(link)
        if error:
            raise LifecycleError(error)
        text = self._content.get("manifests", {}).get(link)
        if text is None:
            raise MissingManifest(link)
        return str(text)

    def digest(self, link: str) -> str:
        """See ModuleMaterials."""
        return str(self._content.get("digests", {}).get(link, ""))

    def warnings(self) -> Sequence[str]:
        """See ModuleMaterials."""
        return list(self._content.get("warnings", ()))


NO_MODULE_MATERIALS = ShippedModules({})
