# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""KLM that acts at once on each change of the Kyma resource, in memory: enough for a run to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event, Object
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from .driver import crd, custom, deployment, healthy_cluster
from .klm import APPLIER, LABEL, PLACE, VERSION, Klm
from .memory_modules import CATALOG, User, user

NAMESPACE = PLACE[3]
COMPONENT = "app.kubernetes.io/component"
CHANNELS = {"regular": "1.0.0", "fast": "2.0.0"}


def release_meta(module: str, channels: Mapping[str, str]) -> Object:
    """Which version each channel of a module has."""
    listed = [{"channel": name, "version": version} for name, version in channels.items()]
    return {
        "apiVersion": VERSION,
        "kind": "ModuleReleaseMeta",
        "metadata": {"name": module},
        "spec": {"moduleName": module, "channels": listed},
    }


def module_template(module: str, version: str) -> Object:
    """A version of a module in KLM's catalog: it has no link to a manifest."""
    manager = {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": NAMESPACE}
    return {
        "apiVersion": VERSION,
        "kind": "ModuleTemplate",
        "metadata": {"name": f"{module}-{version}"},
        "spec": {
            "moduleName": module,
            "version": version,
            "manager": {**manager, "name": module},
            "data": {**custom(module.capitalize(), "default"), "metadata": {"name": "default"}},
        },
    }


@dataclass
class KlmAtWork:
    """KLM in a cluster in memory.

    Attributes:
        cluster: of the modules.
        channels: the version of each channel, by module.
        is_silent: whether it does nothing.
        says: what it reports of a module in place of the truth.
    """

    cluster: MemoryCluster
    channels: dict[str, dict[str, str]] = field(default_factory=dict)
    is_silent: bool = False
    says: dict[str, dict[str, Any]] = field(default_factory=dict)
    _operations: int = 0

    def install(self, *modules: str) -> None:
        """Create its definitions, the Kyma resource and its catalog, and begin to act."""
        klm = Klm(self.cluster)
        klm.install()
        for module in modules:
            self.channels[module] = dict(CHANNELS)
            self.offer(module)
        self.cluster.on_write(self._react)

    def offer(self, module: str) -> None:
        """Synchronize the catalog of a module."""
        channels = self.channels[module]
        templates = [module_template(module, version) for version in dict.fromkeys(channels.values())]
        Klm(self.cluster).offers([release_meta(module, channels), *templates])

    @property
    def kyma(self) -> Object:
        """The Kyma resource."""
        live = self.cluster.get(*PLACE)
        assert live is not None
        return live

    def entry(self, name: str) -> Any:
        """The entry of a module; None without one."""
        return next((one for one in self.kyma["spec"].get("modules") or () if one["name"] == name), None)

    def act(self) -> None:
        """Reconcile once more, as KLM does every 30 seconds."""
        self._reconcile(self.cluster.with_field_manager(APPLIER))

    def _react(self, cluster: Cluster, event: Event) -> None:
        meta = event.object["metadata"]
        is_kyma = event.object["kind"] == "Kyma" and event.type != "DELETED"
        if is_kyma and not self.is_silent and meta.get("generation") != self._seen.get("generation"):
            self._seen["generation"] = meta.get("generation")
            self._reconcile(cluster.with_field_manager(APPLIER))

    _seen: dict[str, Any] = field(default_factory=dict)

    def _reconcile(self, cluster: Cluster) -> None:
        kyma = cluster.get(*PLACE)
        assert kyma is not None
        entries = {one["name"]: one for one in kyma["spec"].get("modules") or ()}
        before = {one["name"]: one for one in (kyma.get("status") or {}).get("modules") or ()}
        said: list[Object | None] = [
            self._manage(cluster, one, before.get(name)) for name, one in entries.items()
        ]
        said += [self._remove(cluster, one) for name, one in before.items() if name not in entries]
        self._operations += 1
        modules = [{**one, **self.says.get(one["name"], {})} for one in said if one]
        operation = {"operation": "reconciled", "lastUpdateTime": f"2026-11-30T10:00:{self._operations:02}Z"}
        status = {"state": "Ready", "modules": modules, "lastOperation": operation}
        cluster.patch(*PLACE, {"status": status}, subresource="status")

    def _manage(self, cluster: Cluster, entry: Object, before: Object | None) -> Object:
        name, kyma = entry["name"], self.kyma
        channel = entry.get("channel") or kyma["spec"]["channel"]
        version = self.channels.get(name, {}).get(channel)
        if version is None:
            message = f"no versions found for channel: {channel} in module {name}"
            return {"name": name, "state": "Error", "channel": channel, "message": message}
        if before and before.get("template") and before["version"] > version:
            return {
                **before,
                "state": "Warning",
                "message": "module template update not allowed: channel skew",
            }
        if entry.get("managed") is False:
            for obj in self.objects(name, version):
                meta = obj["metadata"]
                patch = {"metadata": {"labels": {LABEL: None}}}
                cluster.patch(obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace"), patch)
            return {"name": name, "state": "Unmanaged", "version": version, "channel": channel}
        for obj in self.objects(name, version):
            cluster.apply(obj, force=True)
        template = {"metadata": {"name": f"{name}-{version}"}}
        ready = {"name": name, "state": "Ready", "version": version, "channel": channel}
        return {**ready, "template": template}

    def _remove(self, cluster: Cluster, before: Object) -> Object | None:
        name = before["name"]
        if before["state"] == "Unmanaged" or not before.get("template"):
            return None
        if any(self.resources(name)):
            return {**before, "state": "Deleting"}
        for obj in self.objects(name, before["version"]):
            cluster.delete(
                obj["apiVersion"], obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace")
            )
        return None

    def resources(self, name: str) -> list[Object]:
        """The resources of the kind of a module."""
        return self.cluster.list("example.com/v1", name.capitalize()).items

    def objects(self, name: str, version: str) -> list[Object]:
        """The objects of a module in a version."""
        labels = {LABEL: "kyma", COMPONENT: name, "app.kubernetes.io/version": version}
        manager = deployment(name, f"example.com/{name}:{version}")
        manager["metadata"] |= {"namespace": NAMESPACE, "labels": labels}
        definition = crd(name.capitalize())
        definition["metadata"]["labels"] = dict(labels)
        return [definition, manager]


def klm_user(*modules: str, catalog: Mapping[str, Any] | None = None) -> tuple[User, KlmAtWork]:
    """A user of a runtime, and its KLM, which offers some modules; the user's own catalog has nats."""
    cluster = healthy_cluster()
    klm = KlmAtWork(cluster)
    klm.install(*modules)
    return user(cluster=cluster, catalog=catalog or CATALOG), klm
