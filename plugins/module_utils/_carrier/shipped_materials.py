# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller sent to a module: files in a folder that its action plugin has filled."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from .._cluster.cluster import Object
from .._errors import LifecycleError
from .._migrations.migration_set import MigrationSet
from .._release.bundle import read_bundle_file
from .._release.model import Release
from .module_materials import NO_MODULE_MATERIALS, ModuleMaterials, ShippedModules
from .options import CATALOG, MIGRATIONS_ARCHIVE, MODULES_FILE, RELEASE_BUNDLE
from .task import AvailableRelease, Materials, ReleaseNotSent


class MissingMaterial(LifecycleError):
    """A material that the task needs was not sent to the host."""


class ShippedMaterials(Materials):
    """Materials in a module's folder.

    Args:
        workdir: the folder, or None if nothing was sent.
        bundle: the name of the release's file in it.
        missing_roles: roles that the release or the task names and the controller does not have.
        fingerprint: of the release; empty if the task names none.
        profile: that the sent release is rendered for; None if only its fingerprint was sent.
    """

    def __init__(
        self,
        workdir: str | None,
        bundle: str = RELEASE_BUNDLE,
        *,
        missing_roles: Collection[str] = (),
        fingerprint: str = "",
        profile: str | None = None,
    ) -> None:
        self._workdir = workdir
        self._bundle = bundle
        self._missing_roles = missing_roles
        self._fingerprint = fingerprint
        self._sent_profile = profile
        self._profile = profile

    @property
    def has_release(self) -> bool:
        """See Materials."""
        return bool(self._fingerprint)

    def fingerprint(self) -> str:
        """See Materials."""
        return self._fingerprint

    def for_profile(self, profile: str) -> ShippedMaterials:
        """See Materials; if the release was sent in another profile, it can't be read."""
        other = copy.copy(self)
        other._profile = profile
        return other

    def release(self, skip: Mapping[str, str] | None = None) -> Release:
        """See Materials; the controller has read all of it."""
        del skip
        return self._release

    def content(self, component: str) -> Sequence[Object]:
        """See Materials."""
        return self._release.content[component].objects

    def available_releases(self) -> Sequence[AvailableRelease]:
        """See Materials."""
        if not self._workdir or not Path(self._workdir, CATALOG).exists():
            return ()

        return [
            AvailableRelease(
                one["version"],
                tuple(one["upgrades_from"]),
                one["options"],
                ShippedMaterials(
                    self._workdir,
                    one["bundle"],
                    missing_roles=self._missing_roles,
                    fingerprint=one["fingerprint"],
                    profile=self._sent_profile,
                ),
            )
            for one in json.loads(Path(self._workdir, CATALOG).read_text())
        ]

    def missing_roles(self, names: Collection[str]) -> frozenset[str]:
        """See Materials."""
        return frozenset(names).intersection(self._missing_roles)

    def migrations(self) -> MigrationSet:
        """See Materials."""
        return self._migrations

    @cached_property
    def modules(self) -> ModuleMaterials:
        """See Materials."""
        path = Path(self._workdir or "", MODULES_FILE)
        return ShippedModules(json.loads(path.read_text())) if path.exists() else NO_MODULE_MATERIALS

    @property
    def _release(self) -> Release:
        if self._fingerprint and self._profile != self._sent_profile:
            raise ReleaseNotSent(self._profile or "")
        return self._read_release

    @cached_property
    def _read_release(self) -> Release:
        return read_bundle_file(self._path(self._bundle, "no release: set the option release"))

    @cached_property
    def _migrations(self) -> MigrationSet:
        # Imported here, as the controller has its own way to read them.
        from .._migrations.loader import load_archive

        return load_archive(self._path(MIGRATIONS_ARCHIVE, "no migrations"))

    def _path(self, name: str, missing: str) -> Path:
        if not self._workdir:
            raise MissingMaterial(f"the task was given {missing}")
        path = Path(self._workdir) / name
        if not path.exists():
            raise MissingMaterial(f"the task was given {missing}")
        return path
