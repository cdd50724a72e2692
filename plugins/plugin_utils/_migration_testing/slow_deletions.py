# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster in memory whose deletions take time, as on a real API server: until a migration sleeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    Page,
    Ref,
    group_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.object_selectors import (
    field_matcher,
    label_matcher,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.error_responses import (
    copy_in_version,
)

from .recorded_cluster import ref_named

FINALIZERS = {"Orphan": "orphan", "Foreground": "foregroundDeletion"}
"""Finalizers that the garbage collector removes after it has processed dependents, by propagation."""

SLOW_KINDS = frozenset(
    {"CustomResourceDefinition", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "Pod"}
)
"""Kinds whose deletions controllers or kubelets must end."""


@dataclass
class PendingDeletions:
    """Objects that are being deleted, in their state meanwhile."""

    objects: dict[Ref, Object] = field(default_factory=dict)
    ever: dict[Ref, None] = field(default_factory=dict)

    def end(self) -> None:
        """End all deletions."""
        self.objects.clear()


class SlowlyDeletingCluster(ClusterWrapper):
    """A cluster that shows objects deleted with finalizers until :meth:`PendingDeletions.end`."""

    def __init__(self, inner: Cluster, going: PendingDeletions) -> None:
        super().__init__(inner)
        self._going = going

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        found = self._going.objects.get(Ref(group_of(api_version), kind, namespace or "", name))
        return (
            copy_in_version(found, api_version) if found else super().get(api_version, kind, name, namespace)
        )

    def list(self, api_version: str, kind: str, namespace: str | None = None, **how: Any) -> Page:
        page = super().list(api_version, kind, namespace, **how)
        has_labels = label_matcher(how.get("label_selector", ""))
        has_fields = field_matcher(how.get("field_selector", ""))
        going = [
            copy_in_version(obj, api_version, metadata_only=how.get("metadata_only", False))
            for ref, obj in self._going.objects.items()
            if ref[:2] == (group_of(api_version), kind)
            and (not namespace or ref.namespace == namespace)
            and has_labels(obj)
            and has_fields(obj)
        ]
        return Page([*page.items, *going], page.resource_version)

    def delete(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        **how: Any,
    ) -> bool:
        ref = Ref(group_of(api_version), kind, namespace or "", name)
        if ref in self._going.objects:
            return True
        before = self._inner.get(api_version, kind, name, namespace)
        deleted = super().delete(api_version, kind, name, namespace, dry_run=dry_run, **how)
        finalizer = FINALIZERS.get(how.get("propagation", ""))
        if deleted and not dry_run and before and (finalizer or kind in SLOW_KINDS):
            meta = {**before["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
            self._going.objects[ref] = {**before, "metadata": {**meta, "finalizers": [finalizer or "slow"]}}
            self._going.ever[ref] = None
        return deleted

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.verb in ("create", "apply", "patch"):
            ref = ref_named(call)
            if ref in self._going.objects:
                body = {
                    "reason": "AlreadyExists",
                    "message": f"object is being deleted: {ref} already exists",
                }
                raise api_error(f"{call.verb} {ref}", 409, body)
        return ask()
