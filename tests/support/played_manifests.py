# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The half of a played KLM that brings manifests of modules into a cluster, and takes them away.

Places are of lifecycle-manager at c5b83f1.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Address,
    Cluster,
    Object,
    address_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    AlreadyExists,
    ClusterError,
    KindNotServed,
)

from tests.support.klm import GROUP, Klm
from tests.support.toy_module import ModuleRelease

CREATE_AND_DELETE, IGNORE = "CreateAndDelete", "Ignore"
RESOURCE_FINALIZER = "resource.kyma-project.io/finalizer"
"""The field manager of modules' default resources (internal/common/fieldowners/const.go:12)."""
OPERATOR_KINDS = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "Deployment",
        "Namespace",
        "Role",
        "RoleBinding",
        "Service",
        "ServiceAccount",
    }
)
"""Kinds that go last, all at the same time (internal/pkg/resources/cleanup.go:53)."""
_ROLLING_OUT = frozenset({"FoundNewReplicaSet", "NewReplicaSetCreated", "ReplicaSetUpdated"})
_ROLLED_OUT = "NewReplicaSetAvailable"


@dataclass
class Manifest:
    """A Manifest of the control plane: one module as KLM installs it.

    Attributes:
        name: of the Manifest, which labels the module's objects.
        release: the version that it wants.
        channel: by which that version was found.
        policy: for the module's default resource.
        generation: goes up with each change of its spec.
        state: as reported in its status; empty before it is reconciled.
        synced: the objects of the last apply.
        applied: the release of the last apply.
        has_created_resource: whether the default resource was created once.
        is_unmanaged: whether the module is being given up.
        is_deleting: whether the Manifest has a deletionTimestamp. Nothing takes that away again.
    """

    name: str
    release: ModuleRelease
    channel: str
    policy: str
    generation: int = 1
    state: str = ""
    synced: Sequence[Object] = ()
    applied: ModuleRelease | None = field(default=None, repr=False)
    has_created_resource: bool = False
    is_unmanaged: bool = False
    is_deleting: bool = False


@dataclass(frozen=True)
class ManifestController:
    """Reconciles Manifests with a cluster.

    Attributes:
        cluster: of the modules.
    """

    cluster: Cluster

    def reconcile(self, manifest: Manifest) -> bool:
        """Take one step; return whether the Manifest still exists. Errors are its state, and are retried."""
        try:
            if manifest.is_unmanaged:
                self._let_go(manifest)
                return False
            return self._delete(manifest) if manifest.is_deleting else self._install(manifest)
        except ClusterError:
            # internal/manifest/skrresources/sync.go:29: the first errors are normal, such as a new kind.
            manifest.state = "Error"
            return True

    def _let_go(self, manifest: Manifest) -> None:
        """Give a module up.

        Rule 8, internal/manifest/labelsremoval/labels_removal.go:44: only the label goes. One that was marked
        for deletion meanwhile goes without its objects, too (internal/controller/manifest/controller.go:426).
        """
        if not manifest.is_deleting:
            Klm(self.cluster).lets_go(manifest.synced)

    def _install(self, manifest: Manifest) -> bool:
        """Apply the manifest, whose objects are put back each time.

        Rule 10, internal/controller/manifest/controller.go:321.
        """
        target = [transformed(obj, manifest.name) for obj in manifest.release.objects]
        addresses = {address_of(obj) for obj in target}
        if not self._prune([obj for obj in manifest.synced if address_of(obj) not in addresses]):
            return True
        Klm(self.cluster).applies(target)
        is_new = manifest.applied is not manifest.release
        manifest.synced, manifest.applied = target, manifest.release
        if is_new:
            # internal/manifest/skrresources/sync.go:37, and a rollout takes longer than a reconciliation.
            manifest.state = "Processing"
            return True
        self._create_default_resource(manifest)
        manifest.state = self._state_of_manager(target)
        return True

    def _create_default_resource(self, manifest: Manifest) -> None:
        """Create the module's default resource, once for each Manifest.

        Rule 6, internal/controller/manifest/controller.go:605.
        """
        resource = manifest.release.default_resource
        if resource is None or manifest.policy != CREATE_AND_DELETE or manifest.has_created_resource:
            return
        with suppress(AlreadyExists):
            self.cluster.with_field_manager(RESOURCE_FINALIZER).create(deepcopy(resource))
        manifest.has_created_resource = True

    def _delete(self, manifest: Manifest) -> bool:
        """Take one step of a removal, which never has a message.

        Rule 7, internal/controller/manifest/controller.go:342 and internal/manifest/modulecr/client.go:82:
        objects of the kind of ``spec.data`` block it, in all namespaces; no other kind does.
        """
        manifest.state = "Deleting"
        resource = manifest.release.default_resource
        living = [] if resource is None else self._instances(resource)
        is_ours = resource is not None and manifest.policy == CREATE_AND_DELETE
        own = address_of(resource) if resource and is_ours else None
        if any(address_of(one) != own for one in living):
            return True
        if own and living:
            # Rule 6, internal/manifest/modulecr/client.go:282. Objects are put back (controller.go:382).
            self.cluster.delete(*own, propagation="Background")
            Klm(self.cluster).applies([transformed(obj, manifest.name) for obj in manifest.release.objects])
            return True
        return not self._prune(manifest.synced)

    def _instances(self, resource: Object) -> list[Object]:
        """All objects of a kind. List errors are skipped (internal/manifest/modulecr/client.go:196)."""
        with suppress(KindNotServed):
            return self.cluster.list(resource["apiVersion"], resource["kind"]).items
        return []

    def _prune(self, objects: Sequence[Object]) -> bool:
        """Delete objects; return whether they are gone.

        Rule 7, internal/pkg/resources/cleanup.go:29: first those of other kinds than an operator's.
        """
        for is_last in (False, True):
            group = [obj for obj in objects if (obj["kind"] in OPERATOR_KINDS) is is_last]
            # All are deleted, also if the first one takes its time.
            if [obj for obj in group if self._exists_still(address_of(obj))]:
                return False
        return True

    def _exists_still(self, address: Address) -> bool:
        """Delete an object; a deletion that finds nothing says that it is gone (cleanup.go:72)."""
        try:
            return self.cluster.delete(*address, propagation="Background")
        except KindNotServed:
            return False

    def _state_of_manager(self, objects: Sequence[Object]) -> str:
        """The state of a manifest's first workload, Ready without one; never that of a module's resource.

        internal/manifest/statecheck/state_check.go:70 and deployment_state_check.go.
        """
        for obj in objects:
            if obj["kind"] == "Deployment":
                return _state_of_deployment(self.cluster.get(*address_of(obj)) or {})
        return "Ready"


def _state_of_deployment(live: Object) -> str:
    said: dict[str, Any] = {one["type"]: one for one in (live.get("status") or {}).get("conditions") or ()}
    progressing, available = said.get("Progressing") or {}, said.get("Available") or {}
    reason = progressing.get("reason")
    if progressing.get("status") != "True" or reason not in {_ROLLED_OUT, *_ROLLING_OUT}:
        return "Error"
    return "Ready" if (available.get("status"), reason) == ("True", _ROLLED_OUT) else "Processing"


def transformed(obj: Object, manifest: str) -> Object:
    """An object of a manifest as KLM applies it, but for the label that :class:`Klm` sets.

    Rule 10, internal/service/manifest/render/default_transforms.go:21-90.
    """
    new = deepcopy(obj)
    meta = new["metadata"]
    labels = {"app.kubernetes.io/component": manifest, "app.kubernetes.io/part-of": "Kyma"}
    meta["labels"] = {**(meta.get("labels") or {}), **labels}
    meta["annotations"] = {
        **(meta.get("annotations") or {}),
        f"deprecated-{GROUP}/owned-by": f"kcp-system/{manifest}",
        f"{GROUP}/managed-by-reconciler-disclaimer": (
            "DO NOT EDIT - This resource is managed by Kyma.\n"
            "Any modifications are discarded and the resource is reverted to the original state."
        ),
    }
    return new
