# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Kyma's lifecycle manager (KLM) has in a cluster: the Kyma resource, catalog and operators. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..._cluster.cluster import Ref, ref_of
from ..._klm.klm_marks import has_klm_label
from ..._klm.klm_module import KlmModule, Operator, module_at
from ..._klm.kyma_resource import KYMA_TEXT, Kyma
from ..._loose_json import mapping_of
from ..._module_catalog.catalog import Catalog
from ..._module_catalog.module_version import ModuleVersion
from ..._runs.records.modules import KLM, ModuleRecord
from ..._timestamp import parse_time
from ..manager_health import manager_health
from ..module_request import ModulesRequest
from ..running_version import LiveManager, RunningVersion

COMPONENT_LABEL = "app.kubernetes.io/component"
"""A label with the same value on all objects that KLM applies for a module."""
SILENT_SECONDS = 86400.0
"""After how long a silent KLM may be gone: it writes its status every 30 seconds."""
DEFAULT_NAMESPACE = "kyma-system"
"""The namespace of a default configuration whose template names none."""


@dataclass(frozen=True)
class ObservedKlm:
    """What KLM has in a cluster; nothing of it where there is no KLM.

    Attributes:
        kyma: the Kyma resource; None if there is no KLM.
        catalog: of KLM: the templates and metas with its label.
    """

    kyma: Kyma | None = None
    catalog: Catalog = field(default_factory=Catalog)

    def notes(self, request: ModulesRequest, records: Mapping[str, ModuleRecord], now: datetime) -> list[str]:
        """What a request leaves alone, the options that mean nothing to KLM, and its silence: lines."""
        if self.kyma is None or not self.kyma.entries:
            return []
        since = parse_time(self.kyma.last_operation)
        is_silent = since is not None and (now - since).total_seconds() > SILENT_SECONDS
        silence = (
            f"Kyma's lifecycle manager last wrote the {KYMA_TEXT} at {self.kyma.last_operation}. If it is"
            " gone for good, set kyma_modules_klm_gone=true for this cluster"
        )
        ours = {name for name, one in records.items() if one.managed_by == KLM}
        left = [one for one in self.kyma.entries if request.find(one) is None and one not in ours]
        text = f"not in the list, and left alone: {', '.join(left)}, which the {KYMA_TEXT} has"
        given = {
            "maintenance_policy, as KLM has its own windows": request.maintenance_policy,
            "image_prefixes and pull_secret, as its manifests come from KLM's registry": (
                request.image_prefixes or request.pull_secret
            ),
        }
        listed = [one for one in self.kyma.entries if request.find(one)]
        idle = [
            f"no effect on {', '.join(listed)}: {why}" for why, value in given.items() if value and listed
        ]
        return [*([text] if left and request.is_whole_list else []), *idle, *([silence] if is_silent else [])]

    def channels(self, module: str) -> Mapping[str, str] | None:
        """The version of each channel of a module; None if KLM's catalog has no such module."""
        known = self.catalog.modules.get(module)
        return known.channels if known else None

    def version(self, module: str, version: str) -> ModuleVersion | None:
        """A version in KLM's catalog; None if it has none."""
        known = self.catalog.modules.get(module)
        return known.versions.get(version) if known else None

    def kinds(self, module: str) -> frozenset[tuple[str, str]]:
        """The kinds that the templates of a module name, in any version: of group and kind."""
        known = self.catalog.modules.get(module)
        versions = known.versions.values() if known else ()
        configured = {ref_of(one.configuration)[:2] for one in versions if one.configuration}
        return frozenset(configured.union(*(one.associated for one in versions)))

    def default_configurations(self, module: str) -> frozenset[Ref]:
        """The configurations that KLM creates and deletes, by the templates of a module in any version."""
        known = self.catalog.modules.get(module)
        objects = [one.configuration for one in known.versions.values() if one.configuration] if known else []
        refs = map(ref_of, objects)
        return frozenset(
            one for ref in refs for one in (ref, ref._replace(namespace=ref.namespace or DEFAULT_NAMESPACE))
        )

    def module(
        self, name: str, running: RunningVersion, managers: Sequence[LiveManager], recorded_channel: str
    ) -> KlmModule:
        """A module of KLM as it is; there must be a KLM.

        Args:
            name: of the module.
            running: the version that runs.
            managers: its existing managers, as whole objects.
            recorded_channel: see :class:`~.klm_module.KlmModule`.
        """
        if self.kyma is None:
            raise ValueError(f"the cluster has no KLM that could have {name}")
        channels = self.channels(name) or {}
        status = self.kyma.statuses.get(name)
        version = self.version(name, status.version if status else "")
        operator = operator_of(version, running, managers)
        return module_at(name, self.kyma, channels, operator, recorded_channel)


def operator_of(
    version: ModuleVersion | None, running: RunningVersion, managers: Sequence[LiveManager]
) -> Operator:
    """The operator of a module, as it runs.

    Args:
        version: that KLM reports; None if its catalog lacks it.
        running: the version that runs.
        managers: that exist, as whole objects.
    """
    by_ref = {one.ref: one.object for one in managers}
    problem = ""
    if version is not None and version.manager is not None:
        ref = version.manager.ref
        problem = manager_health(ref, by_ref.get(ref)).reason
    is_klms = any(map(has_klm_label, by_ref.values()))
    labels = (mapping_of(obj["metadata"].get("labels")) for obj in by_ref.values())
    component = next((str(one[COMPONENT_LABEL]) for one in labels if one.get(COMPONENT_LABEL)), "")
    return Operator(bool(managers), running.version, problem, is_klms, component)
