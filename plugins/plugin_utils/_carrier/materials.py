# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's material for a task: a release and migrations, each read only when requested."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...module_utils._carrier.module_materials import NO_MODULE_MATERIALS, ModuleMaterials
from ...module_utils._carrier.task import AvailableRelease, Materials
from ...module_utils._cluster.cluster import Object
from ...module_utils._errors import LifecycleError
from ...module_utils._migrations.migration_set import MigrationSet
from ...module_utils._progress import Progress, Step, no_progress
from ...module_utils._redaction import without_login
from ...module_utils._release.lazy_objects import LazyObjects
from ...module_utils._release.model import Release, ReleaseRequest, rendering_digest
from .._release.programs import run_always

if TYPE_CHECKING:
    from .._release.cache import ReleaseCache


class NoRelease(LifecycleError):
    """A task needs a release, and none was named."""

    state = "refused"

    def __init__(self) -> None:
        super().__init__(
            "release (kyma_release) is not set: name a directory, an archive or a URL, such as"
            " -e kyma_release=releases/2.10"
        )


class ControllerMaterials(Materials):
    """Materials that are read where the files are.

    Args:
        request: the wanted release, or None if none was named.
        migration_folders: folders of the user's own, which need not exist.
        migration_collections: collections with migrations of their own.
        bundles: where to store a rendered release for the tasks after this one.
        hide_login: returns the place of a release, given with its checksum, without its login.
        catalog: places of other releases that an upgrade may pass through, or None if it may not.
        modules: the catalog and the manifests of modules.
        missing_roles: returns those of the given roles that Ansible does not find.
        on_release_read: called with the wanted release after it was read.
        on_migrations_found: called with the migrations after they were loaded.
        progress: where to report how many components are read.
    """

    def __init__(
        self,
        request: ReleaseRequest | None,
        *,
        migration_folders: Sequence[str] = (),
        migration_collections: Sequence[str] = (),
        bundles: ReleaseCache | None = None,
        hide_login: Callable[[str, str], str] = lambda source, _checksum: without_login(source),
        catalog: Sequence[str | Mapping[str, Any]] | None = None,
        modules: ModuleMaterials = NO_MODULE_MATERIALS,
        missing_roles: Callable[[Collection[str]], frozenset[str]] = lambda _names: frozenset(),
        on_release_read: Callable[[Release], None] = lambda _release: None,
        on_migrations_found: Callable[[MigrationSet], None] = lambda _migration_set: None,
        progress: Progress = no_progress,
    ) -> None:
        self._release_request = request
        self._folders = tuple(migration_folders)
        self._collections = tuple(migration_collections)
        self._bundles = bundles
        self._outputs = bundles.output if bundles else run_always
        self._hide_login = hide_login
        self._catalog = catalog
        self._modules = modules
        self._search_roles = missing_roles
        self._on_release_read = on_release_read
        self._on_migrations_found = on_migrations_found
        self._progress = progress

    @property
    def has_release(self) -> bool:
        """See Materials."""
        return self._release_request is not None

    def fingerprint(self) -> str:
        """See Materials."""
        return self._fingerprint

    def for_profile(self, profile: str) -> ControllerMaterials:
        """See Materials."""
        request = self._release_request
        if request is None or profile == request.profile:
            return self
        other = copy.copy(self)
        vars(other).pop("_others", None)
        other._held = None
        other._release_request = replace(
            request, profile=profile, is_deployed_profile=bool(profile) and not request.profile
        )
        return other

    def version(self) -> str:
        """See Materials."""
        # Imported here, as all of the loader, because a plan with nothing to do reads no release.
        from .._release.loader import load_version

        return load_version(self._request)

    def release_digest(self) -> str:
        """See Materials."""
        if self._held is not None:
            return self._held.release_digest
        from .._release.fingerprint import release_digest

        return release_digest(self._request, self._outputs)

    def release(self, skip: Mapping[str, str] | None = None) -> Release:
        """See Materials."""
        from .._release.loader import is_read_except

        skip = skip or {}
        if self._held is None or not is_read_except(self._held, skip):
            if self._bundles is None:
                release = self._load(skip, self._held)
            else:
                release = self._bundles.release(
                    self._bundle_name,
                    lambda earlier: is_read_except(earlier, skip),
                    lambda earlier: self._load(skip, earlier),
                )
            self._held = self._lazy(release)
            self._on_release_read(release)
        return self._held

    def _load(self, skip: Mapping[str, str], earlier: Release | None) -> Release:
        from .._release.loader import load_release

        return load_release(
            self._request, skip, earlier, self._fingerprint, self._report_reading, self._outputs
        )

    def _report_reading(self, done: int, total: int) -> None:
        step = Step(done=done, total=total, unit="components", is_quick=True)
        self._progress("release", "rendering", "", step)

    _held: Release | None = None

    def _lazy(self, release: Release) -> Release:
        """The release; parts that were not read yet are read on first access."""
        content = {
            name: one if one.is_read else replace(one, objects=LazyObjects(partial(self._read, name)))
            for name, one in release.content.items()
        }
        crds = release.crds
        if not crds.is_read:
            crds = replace(crds, objects=LazyObjects(self._read_crds))
        return replace(release, content=content, crds=crds)

    def _read_crds(self) -> Sequence[Object]:
        from .._release.loader import load_crds

        return load_crds(self._request).objects

    def content(self, component: str) -> Sequence[Object]:
        """See Materials."""
        if self._held is not None:
            return self._held.content[component].objects
        return self._read(component)

    def _read(self, component: str) -> Sequence[Object]:
        from .._release.loader import load_component

        return load_component(self._request, component).objects

    def available_releases(self) -> Sequence[AvailableRelease]:
        """See Materials."""
        return [one for one, _materials in self._others]

    def available_bundles(self) -> Iterator[tuple[AvailableRelease, Path]]:
        """The other available releases as files, without unreadable ones, as they may not be needed."""
        for one, materials in self._others:
            with contextlib.suppress(LifecycleError):
                yield one, materials.release_bundle()

    def missing_roles(self, names: Collection[str]) -> frozenset[str]:
        """See Materials."""
        return self._search_roles(names)

    def named_roles(self) -> set[str]:
        """The roles that the release and the other available ones name in their component lists."""
        releases = [self.release()]
        for one in self.available_releases():
            with contextlib.suppress(LifecycleError):
                releases.append(one.materials.release())
        return {entry.role for release in releases for entry in release.components if entry.role}

    @property
    def modules(self) -> ModuleMaterials:
        """See Materials."""
        return self._modules

    def migrations(self) -> MigrationSet:
        """See Materials."""
        return self._migrations

    def release_bundle(self) -> Path:
        """A file from which :class:`~.shipped_materials.ShippedMaterials` reads the release."""
        if self._bundles is None:
            raise ValueError("there is no place for bundles")
        self.release()
        return self._bundles.path(self._bundle_name)

    def migrations_archive(self) -> bytes:
        """The content of a file from which ShippedMaterials reads the migrations."""
        from ...module_utils._migrations.migration_folders import pack_migrations
        from .._migrations.discovery import folders_of

        return pack_migrations(folders_of(self._folders, self._collections))

    @property
    def _request(self) -> ReleaseRequest:
        if self._release_request is None:
            raise NoRelease
        return self._release_request

    @cached_property
    def _others(self) -> list[tuple[AvailableRelease, ControllerMaterials]]:
        if self._catalog is None:
            return []
        # Imported here, because only an upgrade that may pass through other releases needs it.
        from .._release.catalog import read_catalog

        others: list[tuple[AvailableRelease, ControllerMaterials]] = []
        for entry in read_catalog(self._catalog, self._request):
            materials = ControllerMaterials(entry.request, bundles=self._bundles)
            options = {
                "release": self._hide_login(entry.request.source, entry.request.checksum),
                "release_checksum": entry.request.checksum,
                "release_version": entry.request.version,
            }
            others.append(
                (AvailableRelease(entry.version, entry.upgrades_from, options, materials), materials)
            )
        return others

    @property
    def _bundle_name(self) -> str:
        return rendering_digest(self._fingerprint, self._request.profile)

    @cached_property
    def _fingerprint(self) -> str:
        # Imported here, as most tasks need no release.
        from .._release.fingerprint import fingerprint

        return fingerprint(self._request, self._outputs)

    @cached_property
    def _migrations(self) -> MigrationSet:
        # Imported here, as many tasks need none.
        from .._migrations.discovery import discover_migrations

        migration_set = discover_migrations(self._folders, self._collections)
        self._on_migrations_found(migration_set)
        return migration_set
