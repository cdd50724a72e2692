# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller has for a task: a release and migrations, each read only when asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release, ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import (
    AtHand,
    Materials,
    MigrationSet,
)


class Bundles(Protocol):
    """Keeps rendered releases as files."""

    def bundle(self, fingerprint: str, render: Callable[[], Release]) -> Path:
        """The bundle of the release with this fingerprint, made by ``render`` if there is none yet."""


class NoRelease(LifecycleError):
    """A task needs a release, and none was named."""


class ControllerMaterials(Materials):
    """Materials read where they are.

    Args:
        request: the release that is wanted, or None where none was named.
        migration_folders: folders of the user's own, which need not exist.
        migration_collections: collections with migrations of their own.
        bundles: where a release that was rendered is kept for the tasks after this one.
        catalog: places of other releases that an upgrade may lead over, or None where it may not.
    """

    def __init__(
        self,
        request: ReleaseRequest | None,
        *,
        migration_folders: Sequence[str] = (),
        migration_collections: Sequence[str] = (),
        bundles: Bundles | None = None,
        catalog: Sequence[str | Mapping[str, Any]] | None = None,
    ) -> None:
        self._asked = request
        self._folders = tuple(migration_folders)
        self._collections = tuple(migration_collections)
        self._bundles = bundles
        self._catalog = catalog

    @property
    def has_release(self) -> bool:
        """See Materials."""
        return self._asked is not None

    def fingerprint(self) -> str:
        """See Materials."""
        return self._fingerprint

    def release(self) -> Release:
        """See Materials."""
        return self._release

    def content(self, component: str) -> Sequence[Object]:
        """See Materials."""
        if "_release" in self.__dict__:
            return self._release.content[component].objects
        from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_component

        return load_component(self._request, component).objects

    def at_hand(self) -> Sequence[AtHand]:
        """See Materials."""
        return [one for one, _materials in self._others]

    def bundles_at_hand(self) -> Iterator[tuple[AtHand, Path]]:
        """The other releases at hand as files, without those that can't be read: they may not be needed."""
        for one, materials in self._others:
            with contextlib.suppress(LifecycleError):
                yield one, materials.release_bundle()

    def migrations(self) -> MigrationSet:
        """See Materials."""
        return self._migrations

    def release_bundle(self) -> Path:
        """A file from which :class:`~.shipped_materials.ShippedMaterials` reads the release."""
        if self._bundles is None:
            raise ValueError("there is no place for bundles")
        return self._bundles.bundle(self._fingerprint, self._render)

    def migrations_archive(self) -> bytes:
        """The content of a file from which ShippedMaterials reads the migrations."""
        from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.discovery import folders_of
        from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.registry import collect

        return collect(folders_of(self._folders, self._collections)).content

    @property
    def _request(self) -> ReleaseRequest:
        if self._asked is None:
            raise NoRelease("no release is named: set the option release to a directory, an archive or a URL")
        return self._asked

    @cached_property
    def _others(self) -> list[tuple[AtHand, ControllerMaterials]]:
        if self._catalog is None:
            return []
        from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.catalog import read_catalog

        others: list[tuple[AtHand, ControllerMaterials]] = []
        for one in read_catalog(self._catalog, self._request):
            materials = ControllerMaterials(one.request, bundles=self._bundles)
            options = {
                "release": one.request.source,
                "release_checksum": one.request.checksum,
                "release_version": one.request.version,
            }
            others.append((AtHand(one.version, one.upgrades_from, options, materials), materials))
        return others

    @cached_property
    def _fingerprint(self) -> str:
        from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.fingerprint import fingerprint

        return fingerprint(self._request)

    @cached_property
    def _release(self) -> Release:
        from ansible_collections.kyma.lifecycle.plugins.module_utils._task.bundle_file import read_bundle_file

        if self._bundles is None:
            return self._render()
        bundle = self.release_bundle()
        # Either this very object has rendered it just now, or a task before it has.
        return self._rendered or read_bundle_file(bundle)

    _rendered: Release | None = None

    def _render(self) -> Release:
        from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

        self._rendered = load_release(self._request)
        return self._rendered

    @cached_property
    def _migrations(self) -> MigrationSet:
        from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.discovery import discover

        return discover(self._folders, self._collections)
