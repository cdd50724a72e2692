# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One module of a catalog. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .module_version import ModuleVersion
from .restriction import UNRESTRICTED, Restriction, explain_restriction


@dataclass(frozen=True)
class CatalogModule:
    """One module of a catalog.

    Attributes:
        name: the module's name.
        versions: the versions with a template, the lowest first.
        channels: the version of each, which may have no template.
        mandatory: the version that every cluster has to have, or empty.
        restriction: which clusters may have the module, in any version.
    """

    name: str
    versions: Mapping[str, ModuleVersion] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    mandatory: str = ""
    restriction: Restriction = UNRESTRICTED

    def explain_restriction(self, version: ModuleVersion, labels: Mapping[str, Any]) -> str:
        """Why a cluster with these labels may not have a version of the module; empty if it may."""
        reasons = (explain_restriction(one, labels) for one in (self.restriction, version.restriction))
        return next(filter(None, reasons), "")
