# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads modules of Kyma's lifecycle manager (KLM) again and again while a run waits for them."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from ..._cluster.cluster import Cluster
from ..._cluster.errors import ClusterError, Gone
from ..._errors import LifecycleError
from ..._klm.klm_module import KlmModule
from ..._klm.klm_rights import KYMA
from ..._klm.kyma_resource import KYMA_TEXT, Kyma, read_kyma
from ..module_facts import gather_evidence
from ..observed_modules import ObservedModules, klm_catalog, read_cluster_documents, read_whole_managers
from ..running_version import running_version


@dataclass
class KlmReader:
    """Reads modules of KLM as they are now.

    Args:
        cluster: the live one.
        observed: what the plan was made from.
    """

    cluster: Cluster
    observed: ObservedModules

    def read(self, names: Collection[str]) -> tuple[Kyma, Mapping[str, KlmModule]]:
        """The Kyma resource, and some modules.

        Raises:
            LifecycleError: they can't be read, or the resource is another one than that of the plan.
        """
        before, kyma = self.observed.klm.kyma, read_kyma(self.cluster)
        if kyma is None or before is None or kyma.uid != before.uid:
            raise LifecycleError(
                f"the {KYMA_TEXT} was deleted or replaced since the run was planned, so nothing more is"
                " written into it. Run the playbook again"
            )
        catalog = self.observed.klm.catalog
        if any(_has_moved(kyma, name, self.observed.klm.channels(name) or {}) for name in names):
            catalog = klm_catalog(read_cluster_documents(self.cluster))
        klm = replace(self.observed.klm, kyma=kyma, catalog=catalog)
        self.observed = observed = replace(self.observed, klm=klm)
        managers = read_whole_managers(self.cluster, observed, names)

        def module_of(name: str) -> KlmModule:
            evidence = gather_evidence(name, None, observed, managers[name], (), None)
            record = observed.records.get(name)
            channel = record.klm_report.channel if record else ""
            return klm.module(name, running_version(evidence), evidence.managers, channel)

        return kyma, {name: module_of(name) for name in names}

    def wait_for_change(self, kyma: Kyma, seconds: float) -> None:
        """Return when the Kyma resource has changed since it was read, or after some seconds."""
        api_version, version = kyma.object["apiVersion"], kyma.object["metadata"]["resourceVersion"]
        started = time.monotonic()
        with suppress(Gone):
            try:
                events = self.cluster.watch(
                    api_version,
                    KYMA.kind,
                    KYMA.namespace,
                    resource_version=version,
                    seconds=seconds,
                    field_selector=f"metadata.name={KYMA.name}",
                )
                if next(iter(events), None) is not None:
                    return
            except ClusterError:
                # Without the right to watch it is read every few seconds.
                time.sleep(max(0.0, seconds - (time.monotonic() - started)))


def _has_moved(kyma: Kyma, name: str, channels: Mapping[str, str]) -> bool:
    """Whether KLM reports another version of a channel than its catalog had."""
    status = kyma.statuses.get(name)
    return bool(status and status.channel in channels and status.version != channels[status.channel])
