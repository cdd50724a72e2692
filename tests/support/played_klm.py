# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kyma's lifecycle manager (KLM), played on any cluster: one step at a time, or in a thread.

It follows the twelve rules of the real one at c5b83f1 that its clients depend on. Each is named where it
is, with its place in the sources. The control plane is this object: its Kyma, its Manifests, its catalog.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._timestamp import timestamp

from tests.support.klm import CATALOG_SYNC, GROUP, LABEL, PLACE, VERSION, Klm, install_definitions
from tests.support.played_catalog import CONTROL_PLANE, LookupFailed, PlayedCatalog
from tests.support.played_manifests import CREATE_AND_DELETE, Manifest, ManifestController
from tests.support.toy_module import ModuleRelease

MANAGER, METADATA_MANAGER = "lifecycle-manager", "kyma-sync-context"
"""The field managers of the status, and of labels (internal/common/fieldowners/const.go:11)."""
SKIP_LABEL = f"{GROUP}/skip-reconciliation"
OWN_GENERATION = 7
"""The generation of the control plane's Kyma, which says nothing about that of the cluster's."""
SETTLED_AFTER = 20
"""Steps in which every change has had its effect, if nothing hinders it."""


class _ModuleRequest(NamedTuple):
    """What an entry asks for: it is enabled while the spec has it."""

    name: str
    entry: Mapping[str, Any]
    is_enabled: bool


@dataclass
class PlayedKlm:
    """KLM at work in a cluster. Tests set the attributes at any time.

    Attributes:
        cluster: of the modules. Its calls are not recorded if it is ``MemoryCluster.unrecorded()``.
        catalog: of the control plane.
        defaults: the entries of a Kyma that KLM creates.
        channel: that a Kyma has which KLM creates.
        is_silent: whether it writes no status.
        fails_before_sync: whether it fails in each step before it reads the Kyma; manifests are put back.
        clock: returns its time in RFC 3339.
        refusals: what the cluster refused it in a thread, each once, in order.
    """

    cluster: Cluster
    catalog: PlayedCatalog = field(default_factory=PlayedCatalog)
    defaults: Sequence[Object] = ()
    channel: str = "regular"
    is_silent: bool = False
    fails_before_sync: bool = False
    clock: Callable[[], str] = timestamp
    refusals: list[str] = field(default_factory=list)
    manifests: dict[str, Manifest] = field(default_factory=dict)
    _statuses: dict[str, dict[str, Any]] = field(default_factory=dict)

    # The control plane of KLM, for tests.

    def install(self) -> None:
        """Create the definitions and the namespace; the Kyma comes with the first step."""
        install_definitions(self.cluster)

    def tick(self, steps: int = 1) -> None:
        """Reconcile the Kyma and then each Manifest, as often as asked."""
        for _step in range(steps):
            self._reconcile_kyma()
            controller = ManifestController(self.cluster)
            self.manifests = {n: one for n, one in self.manifests.items() if controller.reconcile(one)}

    def settle(self) -> None:
        """Take enough steps for every change to have its effect."""
        self.tick(SETTLED_AFTER)

    @contextmanager
    def running(self, seconds: float = 0.05) -> Iterator[None]:
        """Take a step every few seconds until the block ends; what is refused is tried again."""
        stop = threading.Event()

        def work() -> None:
            while not stop.wait(seconds):
                try:
                    self.tick()
                except ClusterError as refusal:
                    if str(refusal) not in self.refusals:
                        self.refusals.append(str(refusal))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
            assert thread.is_alive(), "the played KLM has crashed: see its traceback"
        finally:
            stop.set()
            thread.join()

    # The reconciliation of the Kyma.

    def _reconcile_kyma(self) -> None:
        """internal/controller/kyma/controller.go:292."""
        if self.fails_before_sync:
            # Rule 12, controller.go:317: the status of the cluster's Kyma stays as it is.
            return
        kyma = self._create_or_fetch()
        if (kyma["metadata"].get("labels") or {}).get(SKIP_LABEL) == "true":
            # Rule 12, controller.go:157. The real label is on the control plane's Kyma.
            return
        # Rule 1, internal/remote/skr_context.go:153: nothing else of the spec is read.
        entries, channel = kyma["spec"].get("modules") or (), kyma["spec"]["channel"]
        for request in self._requested_modules(entries):
            self._statuses[request.name] = self._reconcile_module(request, channel)
        self._forget_removed({entry["name"] for entry in entries})
        self._sync_catalog()
        self._sync_metadata(kyma["metadata"]["uid"])
        if not self.is_silent and not kyma["metadata"].get("deletionTimestamp"):
            self._sync_status(channel)

    def _create_or_fetch(self) -> Object:
        """Rule 12, internal/remote/skr_context.go:87: a Kyma that is gone comes back with the defaults."""
        if kyma := self.cluster.get(*PLACE):
            return kyma
        spec = {"channel": self.channel, "modules": [deepcopy(dict(one)) for one in self.defaults]}
        meta = {"name": PLACE[2], "namespace": PLACE[3]}
        kyma = {"apiVersion": VERSION, "kind": PLACE[1], "metadata": meta, "spec": spec}
        return self.cluster.with_field_manager(MANAGER).create(kyma)

    def _requested_modules(self, entries: Sequence[Object]) -> list[_ModuleRequest]:
        """The modules of the spec, and those of the status alone with the channel there.

        pkg/templatelookup/moduleinfo.go:43.
        """
        named = {entry["name"] for entry in entries}
        left = {name: status for name, status in self._statuses.items() if name not in named}
        return [
            *(_ModuleRequest(entry["name"], entry, True) for entry in entries),
            *(
                _ModuleRequest(name, {"channel": status.get("channel")}, False)
                for name, status in left.items()
            ),
        ]

    def _reconcile_module(self, request: _ModuleRequest, channel: str) -> dict[str, Any]:
        """Update the Manifest of a module; return the module's new status."""
        current = self._statuses.get(request.name)
        desired = request.entry.get("channel") or channel or "regular"
        try:
            if not request.is_enabled and "template" not in (current or {}):
                # pkg/templatelookup/moduleinfo.go:96.
                raise LookupFailed(f"invalid module in status for module {request.name}")
            release = self.catalog.find(request.name, desired, current)
        except LookupFailed as failure:
            # pkg/module/sync/runner.go:60: the Manifest is left as it is.
            return _failed(request.name, failure, current)
        self._update_manifest(request, release, desired, current)
        return self._status(request, release, desired)

    def _update_manifest(
        self, request: _ModuleRequest, release: ModuleRelease, channel: str, current: Mapping[str, Any] | None
    ) -> None:
        """Rules 6 and 8, pkg/module/sync/runner.go:182: a new policy alone changes nothing."""
        manifest = self.manifests.get(request.name)
        is_unmanaged = request.entry.get("managed") is False
        policy = request.entry.get("customResourcePolicy") or CREATE_AND_DELETE
        if manifest is None:
            if request.is_enabled and not is_unmanaged:
                self.manifests[request.name] = Manifest(
                    _manifest_name(request.name), release, channel, policy
                )
            return
        known = ((current or {}).get("template") or {}).get("metadata", {}).get("generation")
        is_new_template = known not in (None, self.catalog.generation(release))
        is_new_version = (manifest.release.version, manifest.channel) != (release.version, channel)
        if not manifest.is_unmanaged and (is_unmanaged or is_new_version or is_new_template):
            manifest.release, manifest.channel = release, channel
            manifest.policy = policy if request.is_enabled else manifest.policy
            manifest.is_unmanaged = is_unmanaged
            manifest.generation += 1

    def _status(self, request: _ModuleRequest, release: ModuleRelease, channel: str) -> dict[str, Any]:
        """The status of a module whose version was found.

        Rule 3, pkg/module/sync/runner.go:97 and generator/generator.go:58: the version is the new one at
        once, and the state is that of the Manifest before. Rule 8, generator.go:102.
        """
        manifest = self.manifests.get(request.name)
        status = _named(request.name)
        status |= {
            "state": manifest.state if manifest else "",
            "channel": channel,
            "version": release.version,
        }
        if request.entry.get("managed") is False:
            return {**status, "state": "Unmanaged"}
        if manifest is None:
            return status
        status["manifest"] = _tracked(
            {"apiVersion": VERSION, "kind": "Manifest"}, manifest.name, CONTROL_PLANE, manifest.generation
        )
        template = release.template
        generation = self.catalog.generation(release)
        status["template"] = _tracked(template, template["metadata"]["name"], CONTROL_PLANE, generation)
        if (resource := release.default_resource) and manifest.policy == CREATE_AND_DELETE:
            meta = resource["metadata"]
            status["resource"] = _tracked(resource, meta["name"], meta.get("namespace"), 0)
        return status

    def _forget_removed(self, named: set[str]) -> None:
        """Drop the statuses of removed entries whose Manifest is gone, and mark the other ones' for deletion.

        Rule 9, internal/service/kyma/status/modules/handler.go:86: a status without a Manifest is dropped, so
        nothing is deleted. internal/controller/kyma/controller.go:206.
        """
        for name in [name for name in self._statuses if name not in named]:
            manifest = self.manifests.get(name)
            if manifest is None or "manifest" not in self._statuses[name]:
                del self._statuses[name]
            else:
                self._statuses[name]["state"] = manifest.state
                manifest.is_deleting = True

    def _sync_catalog(self) -> None:
        """Rule 11, internal/remote/moduletemplate_syncer.go:53-113."""
        documents = self.catalog.synchronized()
        Klm(self.cluster).offers(documents)
        offered = {(one["kind"], one["metadata"]["name"]) for one in documents}
        for kind in ("ModuleTemplate", "ModuleReleaseMeta"):
            for one in self.cluster.list(VERSION, kind).items:
                managers = {entry["manager"] for entry in one["metadata"].get("managedFields") or ()}
                if (kind, one["metadata"]["name"]) not in offered and CATALOG_SYNC in managers:
                    self.cluster.delete(VERSION, kind, one["metadata"]["name"], one["metadata"]["namespace"])

    def _sync_metadata(self, uid: str) -> None:
        """internal/remote/skr_context.go:196. The uid keeps it from creating a Kyma that was deleted."""
        labels = {f"{GROUP}/watched-by": "kyma", LABEL: "kyma"}
        meta = {"name": PLACE[2], "namespace": PLACE[3], "uid": uid, "labels": labels}
        applied = {"apiVersion": VERSION, "kind": PLACE[1], "metadata": meta}
        self.cluster.with_field_manager(METADATA_MANAGER).apply(applied, force=True)

    def _sync_status(self, channel: str) -> None:
        """Replace the whole status by the control plane's, as of its own time.

        Rule 1, internal/remote/skr_context.go:126 and 226-241: no Manifests, and the cluster's namespace.
        """
        now = self.clock()
        modules = []
        for status in self._statuses.values():
            copied = {key: deepcopy(value) for key, value in status.items() if key != "manifest"}
            if "template" in copied:
                copied["template"]["metadata"]["namespace"] = PLACE[3]
            modules.append(copied)
        states = {status["state"] for status in self._statuses.values()}
        state = next((one for one in ("Error", "Warning", "Processing") if one in states), "Ready")
        operation = "kyma is ready" if state == "Ready" else "waiting for all modules to become ready"
        condition = {
            "type": "Modules",
            "status": str(states <= {"Ready", "Unmanaged"}),
            "reason": "Ready",
            "message": operation,
            "lastTransitionTime": now,
            "observedGeneration": OWN_GENERATION,
        }
        status = {
            "activeChannel": channel,
            "conditions": [condition],
            "lastOperation": {"operation": operation, "lastUpdateTime": now},
            "modules": modules,
            "state": state,
        }
        put = [{"op": "add", "path": "/status", "value": status}]
        self.cluster.with_field_manager(MANAGER).patch(*PLACE, put, subresource="status")


def _failed(name: str, failure: LookupFailed, current: Mapping[str, Any] | None) -> dict[str, Any]:
    """Rules 2, 4 and 5, fromerror/generator.go:22-81: an error has neither version, template nor Manifest."""
    if current is not None and failure.changes is not None:
        return {**current, "message": str(failure), **failure.changes}
    channel = {"channel": failure.channel} if failure.channel else {}
    return {**_named(name), **channel, "state": "Error", "message": str(failure)}


def _named(name: str) -> dict[str, Any]:
    component = f"kyma-project.io/module/{name}"
    return {"name": name, "fqdn": component, "ocmComponentName": component}


def _manifest_name(module: str) -> str:
    """A name like that of pkg/module/common/module.go:91."""
    return f"{PLACE[2]}-{module}-{crc32(module.encode())}"


def _tracked(of: Object, name: str, namespace: str | None, generation: int) -> dict[str, Any]:
    """The reference to an object."""
    meta = {"name": name, "namespace": namespace or "", "generation": generation}
    return {"apiVersion": of["apiVersion"], "kind": of["kind"], "metadata": meta}
