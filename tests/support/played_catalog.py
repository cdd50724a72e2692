# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog of a played KLM's control plane, and how it finds the version of a module.

Places are of lifecycle-manager at c5b83f1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

from tests.support.toy_module import ModuleRelease, release_meta

CONTROL_PLANE = "kcp-system"


class LookupFailed(Exception):
    """A module's version can't be found, or may not be installed.

    Attributes:
        changes: in a present status, which stays otherwise. None: that status is replaced by one of an error.
        channel: that was looked for.
    """

    def __init__(
        self, message: str, changes: Mapping[str, Any] | None = None, channel: str | None = None
    ) -> None:
        super().__init__(message)
        self.changes = changes
        self.channel = channel


@dataclass
class PlayedCatalog:
    """Versions of modules, and the channels that have them.

    Attributes:
        is_window_open: whether versions that need downtime may be installed over others.
    """

    is_window_open: bool = False
    _releases: dict[tuple[str, str], ModuleRelease] = field(default_factory=dict)
    _generations: dict[tuple[str, str], int] = field(default_factory=dict)
    _metas: dict[str, Object] = field(default_factory=dict)

    def publish(self, *releases: ModuleRelease) -> None:
        """Add versions, or replace them by a new generation of their templates."""
        for release in releases:
            key = release.module, release.version
            self._releases[key] = release
            self._generations[key] = self._generations.get(key, 0) + 1

    def offer(self, module: str, /, **channels: str) -> None:
        """Set the version of a module in each channel; no other channel has one."""
        self._metas[module] = release_meta(module, channels)

    def offer_mandatory(self, module: str, version: str) -> None:
        """Make a module mandatory: it has no channels."""
        self._metas[module] = release_meta(module, {}, mandatory={"version": version})

    def withdraw(self, module: str) -> None:
        """Remove a module from the catalog, with all its versions."""
        self._metas.pop(module, None)
        for key in [key for key in self._releases if key[0] == module]:
            del self._releases[key]

    def generation(self, release: ModuleRelease) -> int:
        """The generation of the template of a version."""
        return self._generations[release.module, release.version]

    def synchronized(self) -> list[Object]:
        """The documents for the cluster: without those of mandatory modules.

        Rule 11, internal/remote/remote_catalog.go:139.
        """
        metas = [one for one in self._metas.values() if "mandatory" not in one["spec"]]
        offered = {one["spec"]["moduleName"] for one in metas}
        return [*(one.template for one in self._releases.values() if one.module in offered), *metas]

    def find(self, module: str, channel: str, current: Mapping[str, Any] | None) -> ModuleRelease:
        """The release of a module in a channel.

        Rule 2, pkg/templatelookup/moduletemplateinfolookup/lookup.go:39 and modulereleasemeta.go:36.

        Args:
            module: its name.
            channel: the desired one.
            current: the module's status; None without one.

        Raises:
            LookupFailed: there is none, or it may not be installed now.
        """
        meta = self._metas.get(module)
        if meta is None:
            # fromerror/generator.go:66: a present status is kept, as a warning.
            message = f'no ModuleReleaseMeta found  for module "{module}" in namespace "{CONTROL_PLANE}"'
            raise LookupFailed(message, {"state": "Warning"})
        versions = {one["channel"]: one["version"] for one in meta["spec"]["channels"]}
        if channel not in versions:
            raise LookupFailed(
                f"no versions found for channel: {channel} in module {module}", channel=channel
            )
        release = self._releases.get((module, versions[channel]))
        if release is None:
            message = f'failed to get module template: "{module}-{versions[channel]}" not found'
            raise LookupFailed(message, channel=channel)
        if current is not None:
            self._refuse_downtime(release, current)
            _refuse_downgrade(release, channel, current)
        return release

    def _refuse_downtime(self, release: ModuleRelease, current: Mapping[str, Any]) -> None:
        """Rule 5, internal/maintenancewindows/maintenance_window.go:79 and fromerror/generator.go:26."""
        needs_window = release.template["spec"].get("requiresDowntime") and not self.is_window_open
        if needs_window and current.get("version") != release.version:
            message = "waiting for next maintenance window to update module version"
            raise LookupFailed(message, {"maintenance": True})


def _refuse_downgrade(release: ModuleRelease, channel: str, current: Mapping[str, Any]) -> None:
    """Rule 4, pkg/templatelookup/regular.go:198: by x.y.z, and only with a template in the status."""
    if "template" not in current or _numbers(release.version) >= _numbers(current["version"]):
        return
    raise LookupFailed(
        "module template update not allowed: ignore channel skew"
        f" (from {current['channel']} to {channel}), as a higher version ({current['version']}) of the module"
        " was previously installed",
        {"state": "Warning"},
        channel,
    )


def _numbers(version: str) -> tuple[int, ...]:
    """pkg/templatelookup/regular.go:257: the rest of a version does not count."""
    return tuple(map(int, re.findall(r"\d+", version.partition("-")[0].partition("+")[0])))[:3]
