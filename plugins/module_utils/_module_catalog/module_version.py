# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One version of a module, as a ModuleTemplate describes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .._cluster.cluster import Object, Ref, group_of
from .restriction import UNRESTRICTED, Restriction


class ModuleManager(NamedTuple):
    """The object whose health is the module's: mostly the Deployment of its operator.

    ``namespace`` is empty for a cluster-scoped object, and if the template names no namespace.
    """

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def ref(self) -> Ref:
        """The reference of the object."""
        return Ref(group_of(self.api_version), self.kind, self.namespace, self.name)


@dataclass(frozen=True)
class ModuleVersion:
    """A version of a module that can be installed.

    Attributes:
        module: the module's name.
        version: a semantic version without a leading ``v``.
        manager: None if the health of the whole manifest is the module's.
        associated: group and kind of resources that must not exist when the module is deleted.
        configuration: the default configuration, or None.
        manifest: the link of the manifest; empty if it is only in an OCI registry.
        requires_downtime: whether an upgrade to it waits for a maintenance window.
        restriction: by the labels of the template.
        origins: the places of its templates, for messages.
        template: the ModuleTemplate as it was read.
    """

    module: str
    version: str
    manager: ModuleManager | None = None
    associated: tuple[tuple[str, str], ...] = ()
    configuration: Object | None = None
    manifest: str = ""
    requires_downtime: bool = False
    restriction: Restriction = UNRESTRICTED
    origins: tuple[str, ...] = ()
    template: Object = field(default_factory=dict, compare=False, repr=False)
