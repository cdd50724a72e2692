# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's request for the modules of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._cluster.cluster import Object
from .._components.needs import circles_of
from .._components.work_options import WorkOptions
from .._klm.klm_rights import KYMA
from .._runs.records.modules import MANAGED

HOUR = 3600.0


@dataclass(frozen=True)
class ModuleRequest:
    """The user's request for one module.

    Attributes:
        name: of the module.
        state: ``managed``, ``unmanaged`` or ``absent``.
        channel: the channel of the wanted version; empty with a version.
        version: the wanted version, or empty.
        policy: what happens to the module when it is absent; empty for the recorded policy.
        configuration: replaces the template's default configuration, or None.
        manifest: replaces the template's manifest: a path or a link, or empty.
        needs: the modules that must be healthy before this one is installed or upgraded.
        is_default: whether it is one of the cluster's default modules.
        delete_resources: whether a deletion deletes the resources that block it, while the operator runs.
        running_version: the running version, if the cluster does not say it; or empty.
        is_default_channel: whether the channel is ours by default, and not named by the user. A module of
            Kyma's lifecycle manager (KLM) then follows the channel of the Kyma resource.
    """

    name: str
    state: str = MANAGED
    channel: str = ""
    version: str = ""
    policy: str = ""
    configuration: Object | None = None
    manifest: str = ""
    needs: tuple[str, ...] = ()
    is_default: bool = False
    delete_resources: bool = False
    running_version: str = ""
    is_default_channel: bool = False


@dataclass(frozen=True)
class ModulesRequest(WorkOptions):
    """The user's request for the modules of a cluster.

    Attributes:
        modules: the request for each.
        is_whole_list: whether other managed modules are removed, and mandatory ones added.
        removes_all: whether mandatory modules are removed, too.
        reads_cluster_catalog: whether the cluster's own ModuleTemplates belong to the catalog.
        labels: of the cluster, which decide about beta and restricted modules and maintenance windows.
        maintenance_policy: when upgrades that require downtime may happen; None for at any time.
        image_prefixes: the replacement of each image prefix, for air-gapped clusters.
        pull_secret: the name of a Secret that pods pull their images with, or empty.
        publish_namespace: the namespace for the ModuleTemplates of installed modules, so that other clients
            list them; empty for none.
        patience: seconds for which a blocked deletion is *Deleting*, and *Warning* from then on.
        wait: whether a blocked deletion fails the host.
        ignore_removes_operator: whether the policy ``ignore`` removes the operator of a module without
            configurations, as Kyma's own lifecycle manager does.
        is_klm_gone: whether a Kyma resource in the cluster counts for nothing, because its KLM is gone.
        hands_over: whether KLM gets modules of ours that it offers.
    """

    modules: tuple[ModuleRequest, ...]
    is_whole_list: bool = False
    removes_all: bool = False
    reads_cluster_catalog: bool = False
    labels: Mapping[str, Any] = field(default_factory=dict)
    maintenance_policy: Mapping[str, Any] | None = None
    image_prefixes: Mapping[str, str] = field(default_factory=dict)
    pull_secret: str = ""
    publish_namespace: str = ""
    patience: float = HOUR
    wait: bool = True
    ignore_removes_operator: bool = False
    is_klm_gone: bool = False
    hands_over: bool = False

    def find(self, name: str) -> ModuleRequest | None:
        """The request for one module; None if the list lacks it."""
        return next((one for one in self.modules if one.name == name), None)


def request_problems(request: ModulesRequest) -> list[str]:
    """The errors in a request, each in a sentence."""
    modules = request.modules
    names = [one.name for one in modules]
    problems = [
        f"module {name} is in the list {names.count(name)} times; leave one of them"
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    problems += [
        f"module {one.name}: it has a channel ({one.channel}) and a version ({one.version}); a version is"
        " followed by itself, a channel moves: leave one of them out"
        for one in modules
        if one.channel and one.version
    ]
    if request.publish_namespace == KYMA.namespace:
        problems.append(
            f"publish_namespace (kyma_modules_publish_namespace) is {KYMA.namespace}, where only"
            " Kyma's lifecycle manager publishes modules: choose another namespace"
        )
    circles = circles_of({one.name: one.needs for one in modules})
    return [*problems, *(f"the modules need each other in a circle: {one}" for one in circles)]
